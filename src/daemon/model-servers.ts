import type { ModelSettings } from '../agent/models/catalogue.ts'
import type { LearntTraits } from '../agent/models/traits.ts'
import type { Config } from '../config/config.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import { NO_MODEL } from '../core/model.ts'
import { hostOf, SCRIPTED, serverOf, splitModel } from '../core/model-server.ts'
import type { ModelServerReport, ModelTrouble, ServerTrouble } from '../core/operate-parts.ts'

/** The facts about models that only a running daemon has. */
export interface ModelFacts {
  readonly learnt: readonly LearntTraits[]
  readonly troubles: readonly ModelTrouble[]
}

/**
 * Returns a report for each server of the configuration, then for each other that a model of an agent names or that a
 * call has failed for. Scripts have one only where they fail.
 */
export function reportServers(
  { models, agents }: Pick<Config, 'models' | 'agents'>,
  { learnt, troubles }: ModelFacts = { learnt: [], troubles: [] },
): readonly ModelServerReport[] {
  const used = agents.flatMap(modelsOf).map(serverName)
  const failing = troubles.map(({ model }) => serverName(model))
  const names = new Set([
    ...Object.keys(models),
    ...used.filter((name) => name !== SCRIPTED && name !== NO_MODEL),
    ...failing,
  ])
  return [...names].map((name) => {
    const server = serverOf(models, name)
    return {
      name,
      ...(server === undefined ? {} : { kind: server.kind, host: hostOf(server) }),
      agents: agents.filter((agent) => modelsOf(agent).some((id) => serverName(id) === name)).map(({ id }) => id),
      learnt: learnt
        .filter(({ model }) => serverName(model) === name)
        .map(({ model, learnt: traits }) => ({ model: splitModel(model)[1], traits })),
      troubles: joined(troubles.filter(({ model }) => serverName(model) === name)),
    }
  })
}

/** Returns the own model of each agent that has one. */
export function ownModels({ agents }: Pick<Config, 'agents'>): readonly string[] {
  return agents.flatMap(({ model }) => (model === NO_MODEL ? [] : [model]))
}

/** Returns the servers with their keys in plain text, for the clients alone. */
export function revealedServers(models: Config['models']): ModelSettings['servers'] {
  return Object.fromEntries(
    Object.entries(models).map(([name, { apiKey, ...server }]) => [
      name,
      apiKey === undefined ? server : { ...server, apiKey: apiKey.reveal() },
    ]),
  )
}

function modelsOf({ model, fallback = [], summaryModel }: AgentProfile): readonly string[] {
  return [model, ...fallback, ...(summaryModel === undefined ? [] : [summaryModel])]
}

function serverName(id: string): string {
  return splitModel(id)[0]
}

/** Returns each failure once, by its last time, with the models that it is the last of. */
function joined(troubles: readonly ModelTrouble[]): readonly ServerTrouble[] {
  const byCause = new Map<string, ServerTrouble>()
  for (const { model, ...trouble } of troubles) {
    const key = JSON.stringify([trouble.code, trouble.cause, trouble.remedy])
    const known = byCause.get(key)
    const models = [...(known?.models ?? []), splitModel(model)[1]]
    byCause.set(key, { ...trouble, models, at: Math.max(trouble.at, known?.at ?? trouble.at) })
  }
  return [...byCause.values()]
}
