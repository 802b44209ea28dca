// Package postgres keeps rows and the journal in a PostgreSQL database.
package postgres
