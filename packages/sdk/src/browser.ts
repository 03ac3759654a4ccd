// `@perdure/sdk` in a browser: the client, with definitions of events. The rest of the SDK needs Node.

export * from '@perdure/client'
