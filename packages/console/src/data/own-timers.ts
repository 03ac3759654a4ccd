// Replaces react-query's exchangeable timers in the build (vite.config.ts) with the browser's.

export const timeoutManager = globalThis

export const systemSetTimeoutZero = (callback: () => void): unknown => setTimeout(callback, 0)
