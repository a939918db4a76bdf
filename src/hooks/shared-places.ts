import pLimit from 'p-limit'

export interface PlaceLimits {
  /** Pieces of work that run at a time. */
  readonly all: number
  /** Those of one chat: it leaves some places to the others, however much it has that waits. */
  readonly each: number
}

interface Chat {
  readonly place: ReturnType<typeof pLimit>
  /** Pieces that run or wait. */
  open: number
}

export type InPlace = <Done>(chat: string, work: () => Promise<Done>) => Promise<Done>

/** Returns the function that runs a piece of work of a chat once there is a place for it. */
export function sharedPlaces({ all, each }: PlaceLimits): InPlace {
  const place = pLimit(all)
  const chats = new Map<string, Chat>()
  return async (name, work) => {
    const own = chats.get(name) ?? { place: pLimit(each), open: 0 }
    chats.set(name, own)
    own.open++
    try {
      return await own.place(() => place(work))
    } finally {
      if (--own.open === 0) chats.delete(name)
    }
  }
}
