// The dialogs of a run that are seldom opened, in one file that is loaded with the first of them.

export { default as BudgetDialog } from './budget-dialog.tsx'
export { default as EraseDialog } from './erase-dialog.tsx'
export { default as SettleDialog } from './settle-dialog.tsx'
export { default as SignalDialog } from './signal-dialog.tsx'
