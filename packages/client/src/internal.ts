// `@perdure/client/internal`: what the SDK, the console and the command line share with the
// client. Not for other packages: it changes without notice.

export { matchByBrand } from './errors/brand.ts'
export { define, restore, WHOLE_STACK } from './errors/stored-error.ts'
export { enginesOf, readEnvironment } from './http/environment.ts'
export { connectionOf, exchange, parseJson, requestOf } from './http/exchange.ts'
export { createOperations } from './operations.ts'
export { type OperationId, ROUTES } from './routes.ts'
export { applyStreamMessages, EMPTY_STREAM, textOf } from './run-stream/messages.ts'
export { readRunStream } from './run-stream/read-stream.ts'
export { readRunError, untilStored } from './run-stream/stored.ts'
export { eventNameOf, isEventDefinition } from './schema/event.ts'
export { type OptionNames, refuseUnknownOptions, unknownOption } from './schema/known-options.ts'
export { asReceived, isSchema, type Subject, validate, validateSync } from './schema/validate.ts'
export { checkMiddleware, isThenable, ValueChain } from './values/value-chain.ts'
