// `text_has` and `json_has` in PostgreSQL, with the meaning of reads/runs/text-search.ts: case-insensitive, with stored forms and
// JSON escapes resolved; and SQLite's `json_each`. Created together with the write function.

/** Folds letters of every script. A build without ICU folds by the locale of the database. */
const FOLD = `CREATE OR REPLACE FUNCTION perdure_fold(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
BEGIN
  RETURN lower(t COLLATE "und-x-icu");
EXCEPTION WHEN undefined_object THEN
  RETURN lower(t COLLATE "default");
END $f$`

/**
 * Resolves JSON escapes, and so reads a text whose stored form is marked, as far as PostgreSQL's text can hold it. The time rises
 * only with the length of the text: the text is split at its backslashes, and each part begins with the rest of its escape.
 */
const UNESCAPED = String.raw`CREATE OR REPLACE FUNCTION perdure_unescaped(t text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $f$
DECLARE
  parts text[] := string_to_array(t, '\');
  part text;
  code int;
  high int;
  is_escape boolean := false;
BEGIN
  FOR i IN 1 .. coalesce(array_length(parts, 1), 0) LOOP
    part := parts[i];
    IF NOT is_escape THEN
      -- The text before the first backslash, or behind an escaped one.
      is_escape := true;
    ELSIF part = '' AND i < array_length(parts, 1) THEN
      -- Two backslashes are one, and the next part is text.
      parts[i] := '\';
      is_escape := false;
    ELSIF part ~ '^u[0-9a-fA-F]{4}' THEN
      code := ('x' || substr(part, 2, 4))::bit(16)::int;
      IF code BETWEEN 56320 AND 57343 AND high IS NOT NULL THEN
        parts[i] := chr(65536 + (high - 55296) * 1024 + (code - 56320)) || substr(part, 6);
      ELSIF code = 0 OR code BETWEEN 55296 AND 57343 THEN
        -- No text holds a NUL or half a pair.
        parts[i] := substr(part, 6);
      ELSE
        parts[i] := chr(code) || substr(part, 6);
      END IF;
      high := CASE WHEN code BETWEEN 55296 AND 56319 AND length(part) = 5 THEN code END;
      CONTINUE;
    ELSE
      parts[i] := CASE left(part, 1) WHEN 'n' THEN E'\n' WHEN 'r' THEN E'\r' WHEN 't' THEN E'\t' WHEN 'b' THEN E'\b'
        WHEN 'f' THEN E'\f' ELSE left(part, 1) END || substr(part, 2);
    END IF;
    high := NULL;
  END LOOP;
  RETURN array_to_string(parts, '');
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

/**
 * The elements of a list, as SQLite's `json_each` finds them. It has its own name: queries of others who share the schema would
 * call a second `json_each` next to PostgreSQL's, which takes no text.
 */
export const LIST_ELEMENTS = 'perdure_json_each'
const JSON_EACH = `CREATE OR REPLACE FUNCTION ${LIST_ELEMENTS}(t text) RETURNS TABLE (value json)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$ SELECT * FROM json_array_elements(t::json) $f$`

export const SEARCH_FUNCTIONS: readonly string[] = [FOLD, UNESCAPED, TEXT_HAS, JSON_HAS, JSON_EACH]
