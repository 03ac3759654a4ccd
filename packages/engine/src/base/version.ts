// The engine's version, as its OpenAPI document shows it. A test keeps it equal to the package's version.

export const ENGINE_VERSION = '0.1.0'
