// Which engine this is, as its OpenAPI document tells. A test holds it equal to the package's version.

export const ENGINE_VERSION = '0.1.0'
