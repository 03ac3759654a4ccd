// Who this SDK is, as a registration tells it (contract §2.5).

/** `sdkName` of a registration. */
export const SDK_NAME = '@perdure/sdk'
/** `version` of a registration. */
export const SDK_VERSION = '0.1.0'
