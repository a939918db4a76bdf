import { createRunAgent } from '../agent/agent-loop.ts'
import { createIntrospect } from '../agent/introspect.ts'
import { createModels } from '../agent/models/catalogue.ts'
import { createTraitBook, type TraitBook } from '../agent/models/traits.ts'
import { createPrecheck } from '../agent/precheck.ts'
import { createSummarize } from '../agent/summarize.ts'
import { createCatalogue, type ToolGroup } from '../agent/tools/catalogue.ts'
import { type PaidModels, payForModels, watchModels } from '../budgets/paid-models.ts'
import type { Config } from '../config/config.ts'
import type { Charge } from '../core/budget.ts'
import type { Clock } from '../core/clock.ts'
import type { SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { machineZone } from '../core/machine-zone.ts'
import { countCalls, type Measures } from '../core/measures.ts'
import type { MediaStore } from '../core/media.ts'
import type { Introspect } from '../core/memory.ts'
import type { ModelTrouble } from '../core/operate-parts.ts'
import type { RunPrecheck } from '../core/precheck.ts'
import type { SessionTools } from '../core/session-tools.ts'
import type { RunAgent, Summarize } from '../core/turn.ts'
import type { Store } from '../store/store.ts'
import type { Budgets } from './make-budgets.ts'
import { makeWeb, type OwnNet } from './make-web.ts'
import type { ServerWatch } from './model-health.ts'
import { reportServers, revealedServers } from './model-servers.ts'
import { type CountBeside, countBeside, countedBeside } from './spent-beside.ts'

interface AgentDeps {
  readonly config: Config
  readonly clock: Clock
  /** Returns a number in [0, 1), for jitter. */
  random(this: void): number
  readonly logger: Logger
  /** The tools by group name, besides the built-in groups. */
  readonly tools: Readonly<Record<string, ToolGroup>>
  readonly store: Pick<Store, 'read' | 'write'>
  readonly net: OwnNet
  readonly budgets: Budgets | undefined
  readonly measures: Measures
  readonly media: MediaStore
  /** Called after each call of a model by its name, with the failure if there was one. */
  called(this: void, model: string, failure?: unknown): void
  /** Returns the models whose last call failed. */
  troubles(this: void): readonly ModelTrouble[]
  /** Returns true for a model that failed a moment ago. */
  rests(this: void, model: string): boolean
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
}

/** All that is done with the configured models. */
export interface ConfiguredAgent {
  readonly runAgent: RunAgent
  readonly summarize: Summarize
  readonly precheck: RunPrecheck
  readonly introspect: Introspect
}

/**
 * Returns the agent with the configured models and tools. It is made at the first turn: asking for the time zone takes
 * 13 ms, which no start should wait for.
 */
export function makeAgent(
  parts: AgentDeps,
  sessions: SessionTools,
): ConfiguredAgent & ServerWatch & { readonly spentBeside: CountBeside } {
  let made: ConfiguredAgent | undefined
  const [spentBeside, traits] = [countBeside(parts), createTraitBook()]
  const agent = (): ConfiguredAgent => {
    made ??= configured({ ...parts, spentBeside, traits }, sessions)
    return made
  }
  return {
    spentBeside,
    servers: () => reportServers(parts.config, { learnt: traits.learnt(), troubles: parts.troubles() }),
    runAgent: (request, signal) => agent().runAgent(request, signal),
    precheck: (request, signal) => agent().precheck(request, signal),
    // No turn bounds these: they are charged to whoever asks for one by a command, else to their session.
    summarize: async (request, signal) => agent().summarize(await charged(parts, request), signal),
    introspect: async (request, signal) => agent().introspect(await charged(parts, request), signal),
  }
}

async function charged<Request extends { readonly sessionId: SessionId; readonly charge?: Charge | undefined }>(
  { budgets }: AgentDeps,
  request: Request,
): Promise<Request> {
  const charge = request.charge ?? (await budgets?.ofSession(request.sessionId))
  return charge === undefined ? request : { ...request, charge }
}

function configured(
  parts: AgentDeps & { readonly spentBeside: CountBeside; readonly traits: TraitBook },
  sessions: SessionTools,
): ConfiguredAgent {
  const { config, clock, random, logger: root, tools, media, called, rests, redact, traits } = parts
  const logger = root.child({ subsystem: 'agent' })
  const timeZone = machineZone()
  const settings = { servers: revealedServers(config.models), scriptFolder: config.scriptFolder }
  const all = createModels(settings, { clock, random, logger, media, traits })
  const models = paidBy(parts, countCalls(all, parts.measures, config.budgets?.prices))
  const counting = { count: parts.spentBeside, logger }
  const beside = countedBeside(models, counting)
  const runAgent = createRunAgent({
    ...{ models, media, called, rests, redact, clock, timeZone, logger },
    tools: createCatalogue({ timeZone, sessions, web: makeWeb(parts), more: tools }),
    ...(config.toolResults ? { results: config.toolResults } : {}),
  })
  return {
    runAgent,
    summarize: createSummarize({ models: beside, called, rests, clock, logger }),
    precheck: createPrecheck({ models: countedBeside(models, { ...counting, answered: true }), called, clock, logger }),
    introspect: createIntrospect({ models: beside, called, rests, clock, logger }),
  }
}

/** Without budgets nothing stands before a model, and what its calls cost that end before their answer is counted. */
function paidBy({ budgets }: AgentDeps, models: PaidModels): PaidModels {
  return budgets === undefined ? watchModels(models) : payForModels({ models, ...budgets })
}
