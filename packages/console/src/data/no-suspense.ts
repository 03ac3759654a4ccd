// Replaces the parts of react-query that the console does not use (vite.config.ts): no read suspends, none throws its error
// during rendering, and none is restored from a storage. They would be loaded with the first script.

const nothing = (): void => {}

export const useIsRestoring = (): boolean => false
export const useQueryErrorResetBoundary = nothing
export const ensureSuspenseTimers = nothing
export const ensurePreventErrorBoundaryRetry = nothing
export const useClearResetErrorBoundary = nothing
export const fetchOptimistic = nothing
export const shouldSuspend = (): boolean => false
export const getHasError = (): boolean => false
