import type { Accounts } from '../../src/channels/accounts.ts'
import type { Config } from '../../src/config/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Dispatch } from '../../src/core/dispatch.ts'
import type { IdSource } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { Measures } from '../../src/core/measures.ts'
import type { Tool } from '../../src/core/turn.ts'
import { createEvents } from '../../src/daemon/daemon-events.ts'
import { createEntrance, type Entrance } from '../../src/daemon/entrance.ts'
import { loadLookups } from '../../src/daemon/lookups.ts'
import { makeCloseCards, makeDelivery, makeSay } from '../../src/daemon/make-delivery.ts'
import { makeQuestions } from '../../src/daemon/make-questions.ts'
import { createCurrentRouting } from '../../src/daemon/reload.ts'
import { createStages, type Stages } from '../../src/daemon/stages.ts'
import type { DeliveryService } from '../../src/delivery/delivery.ts'
import { personBehind } from '../../src/routing/identify.ts'
import type { RouteFacts } from '../../src/routing/route-facts.ts'
import type { Store } from '../../src/store/store.ts'
import type { FakeChannel } from '../delivery/fake-channel.ts'
import { routeFacts } from './dispatch.ts'
import { noMedia } from './media.ts'

export interface OpenedStages extends Stages {
  readonly accept: Entrance['accept']
  readonly delivery: DeliveryService
}

export interface StageOptions {
  readonly config: Config
  readonly store: Store
  readonly ids: IdSource
  readonly accounts: Accounts
  readonly channel: FakeChannel
  readonly facts?: Partial<RouteFacts>
  readonly tools?: Readonly<Record<string, readonly Tool[]>>
}

/** Opens the stages on a store, between an open entrance and a platform in memory. */
export async function openStages({
  facts: known,
  tools = {},
  channel,
  ...options
}: StageOptions): Promise<OpenedStages> {
  const { config, store } = options
  const policies = createCurrentRouting(config.routing, () => {})
  const measures = new Measures()
  const world = {
    ...options,
    measures,
    media: noMedia,
    clock: systemClock,
    random: () => 0,
    logger: silentLogger,
    policies,
  }
  const events = createEvents()
  const entrance = createEntrance((text) => text)
  const commands = new Map<string, never>()
  const stored = await loadLookups({ ...world, events, commands })
  const facts = { ...stored.facts, ...routeFacts(known) }
  const whoIs = (platformId: string) => personBehind(policies.routing().people, facts, platformId)
  const lookups = { ...stored, facts, whoIs }
  const delivery = makeDelivery({ ...world, lookups, events, timing: {}, audio: {}, adapter: () => channel })
  const people = {
    asMeant: (dispatch: Dispatch) => dispatch,
    decided() {},
    overheard() {},
    admissions: { refused() {} },
    ownerChats: { nearest: () => [] },
  }
  const say = makeSay(store, delivery)
  const closeCards = makeCloseCards(world, delivery)
  const questions = makeQuestions({ ...world, lookups, entrance, delivery, closeCards })
  const stages = createStages({
    ...world,
    events,
    budgets: undefined,
    lookups,
    people,
    commands,
    tools,
    hooks: { has: () => false, beforeSave: async ({ text }) => text, beforeTool: async () => undefined },
    net: {},
    audio: {},
    delivery,
    adapter: () => channel,
    say,
    closeCards,
    questions,
    entrance,
    redact: (text) => text,
  })
  return { ...stages, accept: entrance.accept, delivery }
}
