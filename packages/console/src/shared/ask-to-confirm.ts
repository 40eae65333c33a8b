import { modals } from '@mantine/modals'

type Question = Parameters<typeof modals.openConfirmModal>[0]

/** Asks before an action. The dialog can be clicked again while it closes, which does not repeat the action. */
export function askToConfirm({ onConfirm, ...question }: Question): void {
  let isConfirmed = false
  modals.openConfirmModal({
    ...question,
    onConfirm: () => {
      if (!isConfirmed) onConfirm?.()
      isConfirmed = true
    },
  })
}
