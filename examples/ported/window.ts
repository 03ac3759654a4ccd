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
  // With `hold: 'run'` beside the key, a child that sleeps or waits keeps its place.
  { name: 'convert-picture', concurrency: { limit: WINDOW, key: 'event.data.gallery' } },
  async ({ event, step }: WorkflowArgs<Picture>) => step.run('convert', () => convert(event.data)),
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

/** Stands for a converter of pictures. Every hundredth picture is broken. */
async function convert({ gallery, number }: Picture) {
  if (number % 100 === 0) throw new NonRetriableError(`picture ${number} is broken`)
  return { file: `${gallery}/${number}.webp` }
}
