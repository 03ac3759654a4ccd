// Name and version of the SDK, which a registration contains.

/** The `sdkName` field of a registration. */
export const SDK_NAME = '@perdure/sdk'
/** The `version` field of a registration. */
export const SDK_VERSION = '0.1.0'
