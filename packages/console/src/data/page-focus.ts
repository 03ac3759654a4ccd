// Replaces react-query's watch of the window's focus in the build (vite.config.ts): retries and polls pause while the page is
// hidden.

export const focusManager = {
  isFocused: (): boolean => !document.hidden,
  subscribe(listener: (isFocused: boolean) => void): () => void {
    const changed = () => listener(!document.hidden)
    window.addEventListener('visibilitychange', changed)
    return () => window.removeEventListener('visibilitychange', changed)
  },
}
