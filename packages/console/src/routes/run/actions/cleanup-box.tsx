// The checkbox of dialogs that cancel: whether to clean up after the runs (docs/steps.md#rollbacks).

export interface CleanupBoxProps {
  isOn: boolean
  onChange(isOn: boolean): void
}

export function CleanupBox({ isOn, onChange }: CleanupBoxProps) {
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={event => onChange(event.target.checked)} /> Run rollbacks and
      onCancel
    </label>
  )
}
