// Bounds that engine and runners share. The schemas refuse values beyond them; the SDK checks them before it sends.

/** Maximum length of the name of an app, in characters. */
export const APP_NAME_CHARS_MAX = 128

/** Maximum length of `instance` in a registration, in characters. */
export const INSTANCE_CHARS_MAX = 64

/** Maximum length of a runner id, in characters. */
export const RUNNER_ID_CHARS_MAX = 128

/** Maximum length of the name of a workflow or an event, in characters. */
export const NAME_CHARS_MAX = 256

/** Maximum length of the text of a search, in characters. */
export const SEARCH_CHARS_MAX = 256

/** Maximum length of a step's name, in characters. */
export const STEP_NAME_CHARS_MAX = 1024

/** Maximum length of a URL, in characters. */
export const URL_CHARS_MAX = 2048

/** Maximum length of a CEL expression in a registration, in characters. */
export const EXPRESSION_CHARS_MAX = 2000

/** Most events of one step. */
export const EVENTS_PER_STEP_MAX = 1000

/** Maximum length of a key of flow control, in characters. The engine replaces a longer one with its digest. */
export const KEY_CHARS_MAX = 256

/** Maximum length of a cron expression, in characters. */
export const CRON_CHARS_MAX = 256

/** Maximum delay of a sleep, a retry or a timeout: 100 years of 365.25 days. */
export const DELAY_MS_MAX = 3_155_760_000_000

/** Attempts of a step whose retry policy sets none. */
export const STEP_ATTEMPTS_DEFAULT = 5

/** Most names of errors in the retry policy of a workflow or a step. */
export const NON_RETRIABLE_MAX = 100

/** Maximum number of steps of one run (`docs/limits.md#bounds`). */
export const STEPS_MAX = 10_000

/** Maximum size of the answer to an invoke, in bytes (`docs/wire-protocol.md#answer`). */
export const RESPONSE_BYTES_MAX = 1024 * 1024

/** Maximum index of a log line: the largest signed 32-bit integer. */
export const LOG_INDEX_MAX = 2 ** 31 - 1

/** Maximum number of running steps in one checkpoint. */
export const RUNNING_STEPS_MAX = 100

/** Maximum number of opcodes in one answer or checkpoint. */
export const OPCODES_MAX = 10_000

/** Maximum number of invokes that a Connect runner executes at once. */
export const CONNECT_CONCURRENCY_MAX = 100_000

/** Bounds of the attributes of a run (`docs/concepts.md#attributes`). */
export const ATTRIBUTES_MAX = 32
export const ATTRIBUTE_KEY_CHARS_MAX = 64
export const ATTRIBUTE_VALUE_CHARS_MAX = 256
/** Names of attributes and of budgets. */
export const ATTRIBUTE_KEY_PATTERN = `^[A-Za-z0-9_.-]{1,${ATTRIBUTE_KEY_CHARS_MAX}}$`

/** Bounds of output streams (`docs/wire-protocol.md#output-streams`): the name, which is part of paths, and the JSON text of a chunk in bytes of UTF-8. */
export const STREAM_NAME_PATTERN = `^(?!\\.+$)[A-Za-z0-9_.-]{1,${ATTRIBUTE_KEY_CHARS_MAX}}$`
export const STREAM_CHUNK_BYTES_MAX = 64 * 1024
/** Most streams of a run. */
export const STREAMS_OF_RUN_MAX = 64
/** Most chunks of a stream that count, and their total size. */
export const STREAM_CHUNKS_MAX = 100_000
export const STREAM_BYTES_MAX = 16 * 1024 * 1024
/** Most bytes of a stream that a runner sends before the engine has acknowledged them. */
export const STREAM_UNACKNOWLEDGED_BYTES_MAX = 256 * 1024
/** Most chunks of one append. */
export const STREAM_APPEND_CHUNKS_MAX = 4_096

/** The description of a workflow, in characters. */
export const DESCRIPTION_CHARS_MAX = 1024

/** Names of a budget besides `steps` and `runs` (`docs/budgets.md`). */
export const BUDGET_NAMES_MAX = 16
/** The highest limit, and the most that one attempt may report of a name. */
export const BUDGET_AMOUNT_MAX = 1e9
/** The names of a budget that the engine counts itself. */
export const COUNTED_NAMES = ['steps', 'runs'] as const

/** Maximum size of the progress that a run reports, in bytes of its JSON. */
export const PROGRESS_BYTES_MAX = 16 * 1024

/** Bounds of the features that a registration lists. */
export const FEATURES_MAX = 64
export const FEATURE_CHARS_MAX = 64

/** Most events of one `POST /events/batch`. */
export const EVENTS_OF_BATCH_MAX = 1000
/** Longest text of a duration. */
export const DURATION_CHARS_MAX = 64

/** Maximum length of the name of a signal or an update, in characters. */
export const SIGNAL_NAME_CHARS_MAX = 128
export const SIGNAL_NAME_PATTERN = `^[A-Za-z0-9_.:/-]{1,${SIGNAL_NAME_CHARS_MAX}}$`

/** Limits that steps of an app share (`docs/steps.md#limits-that-steps-share`): most of an app, and the length of a name. */
export const STEP_LIMITS_MAX = 100
export const STEP_LIMIT_NAME_CHARS_MAX = 128
/** The most starts in the period of a limit. */
export const STEP_LIMIT_STARTS_MAX = 1_000_000
