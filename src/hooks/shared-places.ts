import pLimit from 'p-limit'

export interface PlaceLimits {
  /** Pieces of work that run at a time. */
  readonly all: number
  /** Those of one conversation: it leaves some places to the others, however much it has that waits. */
  readonly each: number
}

interface Conversation {
  readonly place: ReturnType<typeof pLimit>
  /** Pieces that run or wait. */
  open: number
}

export type InPlace = <Done>(conversation: string, work: () => Promise<Done>) => Promise<Done>

/** Returns the function that runs a piece of work of a conversation once there is a place for it. */
export function sharedPlaces({ all, each }: PlaceLimits): InPlace {
  const place = pLimit(all)
  const conversations = new Map<string, Conversation>()
  return async (name, work) => {
    const own = conversations.get(name) ?? { place: pLimit(each), open: 0 }
    conversations.set(name, own)
    own.open++
    try {
      return await own.place(() => place(work))
    } finally {
      if (--own.open === 0) conversations.delete(name)
    }
  }
}
