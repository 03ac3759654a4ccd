// The first event of a new project: its workflow (packages/cli/template) starts with it. `perdure init` and the console show
// commands that send it. A separate entry, because browsers load it.

export const FIRST_EVENT = { name: 'user/signed-up', data: { id: 'u1', name: 'Ada' } } as const
