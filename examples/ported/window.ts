// A sliding window over 1,200 children: at most twenty are under way, the next begins when one ends, and the failures are collected.
// The window is a concurrency limit of the child, so the parent has no loop that counts.

import { createWorkflow, NonRetriableError, type StepFailedError, type WorkflowArgs } from 'perdure'

export const WINDOW = 20

export interface Gallery {
  gallery: string
  pictures: number
}

export interface Picture {
  gallery: string
  number: number
}

export const convertPicture = createWorkflow(
  {
    name: 'convert-picture',
    // `hold: 'run'` keeps the slot while the child waits for the converter.
    concurrency: { limit: WINDOW, key: 'event.data.gallery', hold: 'run' },
  },
  async ({ event, step }: WorkflowArgs<Picture>) => {
    await step.run('order the conversion', () => orderConversion(event.data))
    await step.sleep('conversion', '1m')
    return event.data.number
  },
)

export const convertGallery = createWorkflow(
  { name: 'convert-gallery', triggers: { event: 'gallery/uploaded' } },
  async ({ event, step }: WorkflowArgs<Gallery>) => {
    const { gallery, pictures } = event.data
    const numbers = Array.from({ length: pictures }, (_, index) => index + 1)
    const ends = await Promise.allSettled(
      numbers.map(number =>
        step.runWorkflow(`picture ${number}`, { workflow: convertPicture, data: { gallery, number } }),
      ),
    )
    const failures = ends.flatMap((end, index) =>
      end.status === 'rejected' ? [{ number: index + 1, message: (end.reason as StepFailedError).message }] : [],
    )
    return { converted: ends.length - failures.length, failures }
  },
)

/** Stands for a service that converts pictures, and knows some of them to be broken. */
async function orderConversion({ number }: Picture) {
  if (number % 100 === 0) throw new NonRetriableError(`picture ${number} is broken`)
  return { ordered: number }
}
