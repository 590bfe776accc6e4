-- An unknown option is refused with the nearest known one, a bad value with the reason.
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_directory '/x');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (batch '1');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dri '/x');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (host 'localhost');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir 'relative');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (connect_timeout '0');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (connect_timeout 'soon');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (batch_size '-1');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (transaction_lease '-1');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (fdw_startup_cost '-1');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (fdw_tuple_cost 'NaN');
CREATE SERVER bad FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (keep_connections 'perhaps');
ALTER FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (ADD runtime_dir '/x');

CREATE SERVER options FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (
  runtime_dir '/nonexistent/kakehashi', application_name '', connect_timeout '1', transaction_lease '60000',
  fdw_startup_cost '1.5', fdw_tuple_cost '0', keep_connections 'off', use_remote_estimate 'false', updatable 'true',
  batch_size '10');
CREATE USER MAPPING FOR CURRENT_USER SERVER options OPTIONS (usr 'x');
CREATE USER MAPPING FOR CURRENT_USER SERVER options OPTIONS (user 'x', password '');
CREATE FOREIGN TABLE options_table (id int OPTIONS (kye 'true')) SERVER options;
CREATE FOREIGN TABLE options_table (id int OPTIONS (key 'maybe')) SERVER options;
CREATE FOREIGN TABLE options_table (id int) SERVER options OPTIONS (table 'x');
CREATE FOREIGN TABLE options_table (id int OPTIONS (key 'true', column_name 'Id')) SERVER options
  OPTIONS (schema_name 's', table_name 'T', updatable 'false', batch_size '1', use_remote_estimate 'off');
ALTER SERVER options OPTIONS (SET batch_size 'many');
IMPORT FOREIGN SCHEMA s FROM SERVER options INTO public OPTIONS (import_defaults 'true');
IMPORT FOREIGN SCHEMA s FROM SERVER options INTO public OPTIONS (import_not_null 'sometimes');

-- updatable 'false' refuses changes before anything is sent.
INSERT INTO options_table VALUES (1);

-- Only superusers may say which directory the server's OS user works in, or do without a password.
CREATE ROLE kakehashi_options_user;
GRANT USAGE ON FOREIGN DATA WRAPPER kakehashi_fdw TO kakehashi_options_user;
GRANT USAGE ON FOREIGN SERVER options TO kakehashi_options_user;
GRANT SELECT ON options_table TO kakehashi_options_user;
SET ROLE kakehashi_options_user;
CREATE SERVER mine FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (runtime_dir '/x');
CREATE SERVER mine FOREIGN DATA WRAPPER kakehashi_fdw OPTIONS (batch_size '1');
CREATE USER MAPPING FOR CURRENT_USER SERVER options OPTIONS (password_required 'false');
CREATE USER MAPPING FOR CURRENT_USER SERVER options OPTIONS (user 'x');
SELECT * FROM options_table;
SELECT kakehashi_execute('options', 'SELECT 1');
RESET ROLE;
SET client_min_messages = warning;
DROP SERVER options, mine CASCADE;
REVOKE ALL ON FOREIGN DATA WRAPPER kakehashi_fdw FROM kakehashi_options_user;
DROP ROLE kakehashi_options_user;
