-- kakehashi_cancel() names a transaction by its handle: it says whether that is open, ends what it runs, and leaves the transaction as it is.
SELECT kakehashi_cancel('kakehashi', 0), kakehashi_cancel('kakehashi', 308805632), kakehashi_cancel('kakehashi', NULL);
BEGIN;
SELECT kakehashi_current_transaction('kakehashi') AS handle \gset
-- Open, and nothing runs
SELECT kakehashi_cancel('kakehashi', :handle);
SELECT * FROM kakehashi_query('kakehashi', 'SELECT 1') AS q (n int);
COMMIT;
SELECT * FROM kakehashi_query('kakehashi', 'SELECT 1') AS q (n int);
DO $$ BEGIN PERFORM kakehashi_cancel('nosuch', 1); EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', sqlerrm; END $$;
-- Only those to whom it is granted
CREATE ROLE kakehashi_cancel_user;
SET ROLE kakehashi_cancel_user;
SELECT kakehashi_cancel('kakehashi', :handle);
RESET ROLE;
DROP ROLE kakehashi_cancel_user;
