// Exact nearest rows in PGlite, which is PostgreSQL built for WebAssembly, with pgvector.
// The first argument is a folder with rows-*.bin, each what COPY … (FORMAT binary) reads,
// and the second a file with the questions, a JSON list of vectors. When the rows are in,
// it prints a line; then, for each line that it reads, it answers all questions and prints
// how long each took, as it is measured here, around the query, and what was found.
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { openAsBlob, readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { join } from 'node:path'

const [folder, asked] = process.argv.slice(2)
const db = new PGlite({ extensions: { vector } })
await db.exec('CREATE EXTENSION vector; CREATE TABLE finding (finding_id uuid PRIMARY KEY, meaning vector(256) NOT NULL)')
for (const name of readdirSync(folder).filter((n) => n.startsWith('rows-')).sort()) {
  await db.query("COPY finding FROM '/dev/blob' (FORMAT binary)", [], { blob: await openAsBlob(join(folder, name)) })
}
await db.exec('VACUUM ANALYZE finding')
const questions = JSON.parse(readFileSync(asked)).map((v) => JSON.stringify(v))
const about = await db.query("SELECT version() || ', pgvector ' || extversion AS is, (SELECT count(*) FROM finding)::int AS rows FROM pg_extension WHERE extname = 'vector'")
console.log(JSON.stringify(about.rows[0]))
for await (const _ of createInterface({ input: process.stdin })) {
  const ms = []
  const found = []
  for (const q of questions) {
    const start = performance.now()
    const result = await db.query('SELECT finding_id FROM finding ORDER BY meaning <#> $1::vector, finding_id LIMIT 10', [q])
    ms.push(performance.now() - start)
    found.push(result.rows.map((r) => r.finding_id))
  }
  console.log(JSON.stringify({ ms, found }))
}
