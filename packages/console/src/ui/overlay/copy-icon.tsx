// The icon on buttons that copy: two sheets, drawn because not every system has a character for them.

export function CopyIcon() {
  return (
    <svg width="14" height="14" viewBox="0 0 14 14" fill="none" stroke="currentColor" aria-hidden="true">
      <rect x="1.5" y="1.5" width="8" height="8" rx="1.5" />
      <path d="M4.5 12.5h6.5a1.5 1.5 0 0 0 1.5-1.5V4.5" />
    </svg>
  )
}
