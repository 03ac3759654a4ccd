// `@perdure/sdk/ai`: answers of the AI SDK in output streams, and the transport that shows them with `useChat`.

export { type ChatRun, PerdureChatTransport, type PerdureChatTransportOptions } from './chat-transport.ts'
export { streamUI, type UISource } from './stream-ui.ts'
