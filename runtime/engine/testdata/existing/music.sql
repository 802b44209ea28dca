CREATE TYPE "Mood" AS ENUM ('calm', 'wild'); -- postgres
CREATE TABLE "Artist" ("ArtistId" INTEGER NOT NULL, "Name" NVARCHAR(120), CONSTRAINT "PK_Artist" PRIMARY KEY ("ArtistId")); -- sqlite
CREATE TABLE "Artist" ("ArtistId" serial PRIMARY KEY, "Name" varchar(120)); -- postgres
CREATE TABLE "Album" ("AlbumId" INTEGER PRIMARY KEY AUTOINCREMENT, "Title" NVARCHAR(160) NOT NULL, "ArtistId" INTEGER NOT NULL REFERENCES "Artist"); -- sqlite
CREATE TABLE "Album" ("AlbumId" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "Title" varchar(160) NOT NULL, "ArtistId" integer NOT NULL REFERENCES "Artist"); -- postgres
CREATE TABLE "Track" (
  "TrackId" INTEGER PRIMARY KEY, -- sqlite
  "TrackId" serial PRIMARY KEY, -- postgres
  "Name" varchar(200) NOT NULL,
  "AlbumId" integer REFERENCES "Album", -- sqlite
  "AlbumId" bigint REFERENCES "Album", -- postgres
  "Mood" text NOT NULL DEFAULT 'calm' CHECK ("Mood" IN ('calm', 'wild')), -- sqlite
  "Mood" "Mood" NOT NULL DEFAULT 'calm', -- postgres
  "Kind" integer NOT NULL DEFAULT 1 CHECK ("Kind" IN (1, 2)),
  "Milliseconds" integer NOT NULL,
  "UnitPrice" NUMERIC(10,2) NOT NULL,
  "Loudness" double precision,
  "Cover" BLOB, -- sqlite
  "Cover" bytea, -- postgres
  "Shape" GEOMETRY, -- sqlite
  "Shape" point, -- postgres
  "Seconds" integer GENERATED ALWAYS AS ("Milliseconds" / 1000) STORED
);
CREATE TABLE "Play list" ("Id" varchar(20) PRIMARY KEY, "Name" varchar(120), "Public" boolean NOT NULL DEFAULT true);
CREATE TABLE "PlaylistTrack" (
  "Playlist" varchar(20) NOT NULL REFERENCES "Play list",
  "TrackId" integer NOT NULL REFERENCES "Track",
  PRIMARY KEY ("Playlist", "TrackId")
);
CREATE TABLE "Order" (
  "select" INTEGER PRIMARY KEY, -- sqlite
  "select" serial PRIMARY KEY, -- postgres
  "from" varchar(80) NOT NULL,
  "row" integer,
  "On" DATETIME NOT NULL, -- sqlite
  "On" timestamp NOT NULL, -- postgres
  "Paid" DATE, -- sqlite
  "Paid" date, -- postgres
  "Total" NUMERIC(10,2) NOT NULL,
  "null" text
);
CREATE TABLE employee (
  id INTEGER PRIMARY KEY, -- sqlite
  id serial PRIMARY KEY, -- postgres
  first_name text NOT NULL,
  last_name text NOT NULL,
  boss integer REFERENCES employee,
  team integer,
  password text
);
CREATE TABLE team (
  id INTEGER PRIMARY KEY, -- sqlite
  id serial PRIMARY KEY, -- postgres
  name text NOT NULL,
  lead integer NOT NULL REFERENCES employee
);
ALTER TABLE employee ADD FOREIGN KEY (team) REFERENCES team; -- postgres
CREATE TABLE log_line (at text, line text);
CREATE TABLE scan (id integer PRIMARY KEY, page bytea NOT NULL); -- postgres
CREATE TABLE scan (id integer PRIMARY KEY, page blob NOT NULL); -- sqlite
CREATE TABLE lost (id integer PRIMARY KEY, track integer); -- postgres
INSERT INTO lost VALUES (1, 999); -- postgres
ALTER TABLE lost ADD FOREIGN KEY (track) REFERENCES "Track" NOT VALID; -- postgres
CREATE VIEW album_size AS SELECT a."AlbumId" AS album, a."Title" AS title, count(*) AS tracks, sum(t."Milliseconds") AS length FROM "Album" a JOIN "Track" t ON t."AlbumId" = a."AlbumId" GROUP BY a."AlbumId", a."Title";
CREATE VIEW broken AS SELECT x FROM not_there; -- sqlite
CREATE VIEW broken AS SELECT 1 / (count(*) - 1) AS x FROM team; -- postgres
INSERT INTO "Artist" ("Name") VALUES ('Nina'), ('Miles');
INSERT INTO "Album" ("Title", "ArtistId") VALUES ('Blue', 2), ('Blues', 1);
INSERT INTO "Track" ("Name", "AlbumId", "Mood", "Kind", "Milliseconds", "UnitPrice", "Loudness") VALUES ('So', 1, 'calm', 1, 300500, 0.99, 0.1), ('What', 1, 'wild', 2, 1000, 1.99, NULL), ('Loose', NULL, 'calm', 1, 5, 12345.67, 1e-9);
INSERT INTO "Play list" VALUES ('mine', 'Mine', true), ('yours', 'Yours', false);
INSERT INTO "PlaylistTrack" VALUES ('yours', 1), ('mine', 2);
INSERT INTO "Order" ("from", "row", "On", "Paid", "Total") VALUES ('Ada', 1, '2009-01-01 00:00:00', '2009-01-31', 0.99), ('Bob', NULL, '2010-06-30 12:34:56', NULL, 100);
INSERT INTO employee (first_name, last_name) VALUES ('Ann', 'Ahl'), ('Ben', 'Beck');
UPDATE employee SET boss = 1 WHERE first_name = 'Ben';
INSERT INTO team (name, lead) VALUES ('Sales', 1);
