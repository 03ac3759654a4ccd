// Who this SDK is, as a registration tells it (contract §2.5).

export const SDK_NAME = '@perdure/sdk'
export const SDK_VERSION = '0.1.0'
