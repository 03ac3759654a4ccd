// The values of error groups that schemas and query parameters share.

/** The form of the fingerprint of an error. */
export const FINGERPRINT_PATTERN = '^[0-9a-f]{16}$'

/** The states that a person gives to an error group. As a filter, `open` also includes the groups that have regressed. */
export const SETTABLE_ERROR_STATES = ['open', 'resolved', 'ignored'] as const
