import { askingAuthor } from '../core/author.ts'
import type { CloseCards } from '../core/card.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { NOBODY, OPERATOR } from '../core/platform-id.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import { createQuestions, type Questions } from '../questions/question-service.ts'
import { roomOf } from '../sessions/turns/room-of.ts'
import type { Store } from '../store/store.ts'
import { askersOf } from './askers-of.ts'
import type { Entrance } from './entrance.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

interface MakeQuestionsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'whoIs' | 'moves'>
  readonly entrance: Pick<Entrance, 'accept'>
  readonly delivery: Pick<DeliveryService, 'plan' | 'release'>
  readonly closeCards: CloseCards
}

/** Returns the questions of this daemon, which leave by its one exit and come back by its entrance. */
export function makeQuestions(parts: MakeQuestionsDeps): Questions {
  const { store, clock, ids, logger, policies, lookups, entrance, delivery, closeCards } = parts
  const { channels } = policies.routing()
  const { whoIs, moves } = lookups
  return createQuestions({
    ...{ store, clock, ids, closeCards, whoIs, accept: entrance.accept },
    commandMark: (channel) => channels.traits(channel).commandMark ?? '/',
    askersOf: askersOf({ read: store.read, channels, whoIs }),
    logger: logger.child({ subsystem: 'questions' }),
    isSame(one, other) {
      const person = whoIs(one).person
      return one === other || (person !== undefined && person === whoIs(other).person)
    },
    // The chat may have got a new id since it was asked.
    roomOf: (address) => roomOf({ channels, moves }, address),
    authorOf({ dispatch }) {
      const author = askingAuthor(channels, dispatch)
      return author === NOBODY || author === OPERATOR || dispatch.schedule ? undefined : author
    },
    async plan(tx, message) {
      const planned = await delivery.plan(tx, message)
      if (planned.outcome !== 'planned')
        throw new ParleyError('forbidden', `Nothing may be said here now: ${planned.because ?? planned.outcome}.`)
      return () => delivery.release(planned)
    },
  })
}
