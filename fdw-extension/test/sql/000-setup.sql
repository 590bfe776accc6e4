-- The extension can be installed, and a server with its mapping can be made.
\getenv runtime_dir KAKEHASHI_RUNTIME_DIR
\if :{?runtime_dir}
\else
\set runtime_dir /dev/shm/kakehashi/main
\endif
SELECT kakehashi_version() = extversion || '.0' AS same_version FROM pg_extension WHERE extname = 'kakehashi_fdw';
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir :'runtime_dir');
CREATE USER MAPPING FOR CURRENT_USER SERVER kakehashi;
-- Statistics come when the endpoint has got round to it; plans that are shown should not depend on that.
SELECT format('ALTER DATABASE %I SET kakehashi.column_statistics = off', current_database()) AS alter_database \gset
:alter_database;
-- Nothing is attached before something is asked.
SELECT count(*) FROM kakehashi_sessions;
