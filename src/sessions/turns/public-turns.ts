import type { SessionId, TurnId } from '../../core/ids.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { StartedTurn } from './record-turn.ts'

/** How much people may cause whom the agent talks to only because it talks to anybody. */
export interface PublicTurnLimits {
  /** Turns for all of them that run at a time. */
  readonly atOnce: number
  /** Turns for one of them that run at a time, in all conversations. */
  readonly perPerson: number
  /** Turns that wait for one that runs to end. */
  readonly waiting: number
}

export const DEFAULT_PUBLIC_TURNS: PublicTurnLimits = { atOnce: 8, perPerson: 1, waiting: 16 }

/**
 * The turns of people whom nobody let in by name, in memory: so many run at a time, a few wait, the others are refused.
 * Turns of everybody else are not counted and wait for none of these.
 */
export interface PublicTurns {
  /** False: so many run and wait that another turn of this person is refused. */
  admits(person: string): boolean
  /** Takes a place for a turn, inside the transaction that claims it. */
  enter(turn: StartedTurn, tx: Pick<StoreWriter, 'afterUndo'>): void
  /** Resolves when the turn may run, when `signal` aborts, or when `close` is called; undefined: it may run at once. */
  mayRun(turn: StartedTurn, signal: AbortSignal): Promise<void> | undefined
  /** Returns whether the turn of this session is one that this person alone has asked for. */
  isOf(person: string, session: SessionId): boolean
  /** Called when somebody known waits behind the turn of this session: it runs at once. */
  hurry(session: SessionId): void
  /** Called when the turn has ended. */
  left(turn: TurnId): void
  /** Called when the daemon is being stopped: no turn waits any longer. */
  close(): void
}

interface Place {
  readonly person: string
  readonly session: SessionId
  running: boolean
  go(): void
}

interface Count {
  running: number
  waiting: number
}

export function createPublicTurns({ atOnce, perPerson, waiting }: PublicTurnLimits): PublicTurns {
  const places = new Map<TurnId, Place>()
  const all: Count = { running: 0, waiting: 0 }
  const persons = new Map<string, Count>()
  /** One person may write in several conversations at once, and still leaves places to others. */
  const waitingForOne = Math.ceil(waiting / 2)
  let closed = false
  const mayStart = (person: string): boolean => all.running < atOnce && (persons.get(person)?.running ?? 0) < perPerson
  const count = ({ person, running }: Place, more: 1 | -1): void => {
    const state = running ? 'running' : 'waiting'
    const mine = persons.get(person) ?? { running: 0, waiting: 0 }
    all[state] += more
    mine[state] += more
    if (mine.running + mine.waiting > 0) persons.set(person, mine)
    else persons.delete(person)
  }
  const run = (place: Place): void => {
    count(place, -1)
    place.running = true
    count(place, 1)
    place.go()
  }
  const startNext = (): void => {
    for (const place of places.values()) {
      if (all.running >= atOnce) return
      if (!place.running && mayStart(place.person)) run(place)
    }
  }
  const leave = (turn: TurnId): void => {
    const place = places.get(turn)
    if (place === undefined) return
    places.delete(turn)
    count(place, -1)
    if (!closed) startNext()
  }
  const placeOf = ({ id, session, publicFor = '' }: StartedTurn): Place => {
    const known = places.get(id)
    if (known !== undefined) return known
    const place = { person: publicFor, session: session.id, running: mayStart(publicFor), go() {} }
    places.set(id, place)
    count(place, 1)
    return place
  }
  return {
    admits: (person) =>
      mayStart(person) || ((persons.get(person)?.waiting ?? 0) < waitingForOne && all.waiting < waiting),
    enter(turn, tx) {
      placeOf(turn)
      tx.afterUndo(() => leave(turn.id))
    },
    mayRun(turn, signal) {
      if (turn.publicFor === undefined) return undefined
      const place = placeOf(turn)
      if (place.running || signal.aborted) return undefined
      if (closed) return Promise.resolve()
      return new Promise((resolve) => {
        place.go = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
    hurry(session) {
      for (const place of places.values()) if (place.session === session && !place.running) run(place)
    },
    isOf: (person, session) =>
      [...places.values()].some((place) => place.session === session && place.person === person),
    left: leave,
    close() {
      closed = true
      for (const place of places.values()) if (!place.running) place.go()
    },
  }
}
