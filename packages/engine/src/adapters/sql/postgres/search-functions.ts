// `text_has` and `json_has` in PostgreSQL, with the meaning of reads/text-search.ts: case-insensitive, with stored forms and
// JSON escapes resolved. Created together with the write function.

/** Folds letters of every script. A build without ICU folds by the locale of the database. */
const FOLD = `CREATE OR REPLACE FUNCTION perdure_fold(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN lower(t COLLATE "und-x-icu");
EXCEPTION WHEN undefined_object THEN
  RETURN lower(t COLLATE "default");
END $f$`

/** Resolves JSON escapes, which also reads a text whose stored form is marked, as far as text of PostgreSQL can hold it. */
const UNESCAPED = String.raw`CREATE OR REPLACE FUNCTION perdure_unescaped(t text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  out text := '';
  rest text := t;
  at int;
  c text;
  code int;
  low int;
BEGIN
  LOOP
    at := position('\' IN rest);
    IF at = 0 THEN RETURN out || rest; END IF;
    out := out || left(rest, at - 1);
    c := substr(rest, at + 1, 1);
    IF c = 'u' AND substr(rest, at + 2, 4) ~ '^[0-9a-fA-F]{4}$' THEN
      code := ('x' || substr(rest, at + 2, 4))::bit(16)::int;
      rest := substr(rest, at + 6);
      IF code BETWEEN 55296 AND 56319 AND rest ~ '^\\u[dD][c-fC-F][0-9a-fA-F]{2}' THEN
        low := ('x' || substr(rest, 3, 4))::bit(16)::int;
        code := 65536 + (code - 55296) * 1024 + (low - 56320);
        rest := substr(rest, 7);
      END IF;
      -- No text holds a NUL or half a pair.
      IF code > 0 AND code NOT BETWEEN 55296 AND 57343 THEN out := out || chr(code); END IF;
    ELSE
      out := out || CASE c WHEN 'n' THEN E'\n' WHEN 'r' THEN E'\r' WHEN 't' THEN E'\t' WHEN 'b' THEN E'\b'
        WHEN 'f' THEN E'\f' ELSE c END;
      rest := substr(rest, at + 2);
    END IF;
  END LOOP;
END $f$`

const TEXT_HAS = `CREATE OR REPLACE FUNCTION text_has(needle text, VARIADIC texts text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY texts LOOP
    IF t IS NOT NULL AND position(needle IN perdure_fold(t)) > 0 THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $f$`

const JSON_HAS = String.raw`CREATE OR REPLACE FUNCTION json_has(needle text, VARIADIC texts text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY texts LOOP
    IF t IS NOT NULL THEN
      IF position(needle IN perdure_fold(t)) > 0 THEN RETURN true; END IF;
      IF position('\' IN t) > 0 AND position(needle IN perdure_fold(perdure_unescaped(t))) > 0 THEN RETURN true; END IF;
    END IF;
  END LOOP;
  RETURN false;
END $f$`

export const SEARCH_FUNCTIONS: readonly string[] = [FOLD, UNESCAPED, TEXT_HAS, JSON_HAS]
