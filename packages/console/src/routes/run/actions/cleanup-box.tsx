// The box of dialogs that cancel: whether the runs are cleaned up after (docs/steps.md#rollbacks).

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
