// Stands for react-query's exchangeable timers in the build (vite.config.ts): these are the browser's.

export const timeoutManager = globalThis

export const systemSetTimeoutZero = (callback: () => void): unknown => setTimeout(callback, 0)
