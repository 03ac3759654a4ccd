// Replaces react-query's watch of the browser's network in the build (vite.config.ts): reads depend only on the engine's answers
// (queries.ts).

export const onlineManager = {
  isOnline: (): boolean => true,
  subscribe: () => (): void => {},
}
