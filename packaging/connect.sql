-- Lets this database use the endpoint of the package kakehashi-server: sudo -u postgres psql -f /usr/share/kakehashi/connect.sql [DATABASE]
-- The endpoint runs as the OS user kakehashi, whom PostgreSQL has to trust. Every user of the database may use its tables, as far as GRANT lets him.
\set ON_ERROR_STOP on
BEGIN;
CREATE EXTENSION kakehashi_fdw;
CREATE SERVER kakehashi FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '/dev/shm/kakehashi/main', requirepeer 'kakehashi');
CREATE USER MAPPING FOR PUBLIC SERVER kakehashi;
COMMIT;
