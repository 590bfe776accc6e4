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
-- What a statement returns over the tables of of_engine, and where that differs from what it returns over those of of_heap. state: a query that is asked after the
-- statement instead of it.
CREATE FUNCTION both_sides(statement text, state text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answers text[];
  side text;
BEGIN
  FOREACH side IN ARRAY ARRAY['of_engine', 'of_heap'] LOOP
    PERFORM set_config('search_path', side || ', public', true);
    BEGIN
      IF state IS NULL THEN
        EXECUTE statement INTO STRICT side;
      ELSE
        EXECUTE statement;
        EXECUTE state INTO side;
      END IF;
    EXCEPTION WHEN OTHERS THEN
      side := SQLSTATE || ': ' || SQLERRM;
    END;
    answers := array_append(answers, side);
  END LOOP;
  RETURN coalesce(answers[1], 'null') || CASE WHEN answers[1] IS DISTINCT FROM answers[2] THEN ', but ' || coalesce(answers[2], 'null') ELSE '' END;
END $$;
-- How far a query comes, one row after the other, and how it ends
CREATE FUNCTION rows_before_error(query text, in_schemas text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c refcursor;
  r record;
  rows int8 := 0;
  sum int8 := 0;
BEGIN
  PERFORM set_config('search_path', in_schemas, true);
  OPEN c FOR EXECUTE query;
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    rows := rows + 1;
    sum := (sum * 31 + hashtext(r::text)) % 1000000007;
  END LOOP;
  CLOSE c;
  RETURN rows || ' rows, ' || sum;
EXCEPTION WHEN OTHERS THEN
  RETURN rows || ' rows, ' || sum || ', then ' || SQLSTATE || ': ' || SQLERRM;
END $$;
-- Nothing is attached before something is asked.
SELECT count(*) FROM kakehashi_sessions;
