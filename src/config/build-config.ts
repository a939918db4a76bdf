import { dirname } from 'node:path'
import { CHANNEL_IDS } from '../core/ids.ts'
import { buildAgents } from './build-agents.ts'
import { buildSchedules } from './build-schedules.ts'
import { buildSessionTools } from './build-session-tools.ts'
import type { ChannelBlock, Config } from './config.ts'
import { malformedIdMistakes } from './malformed-ids.ts'
import type { Mistake } from './mistake.ts'
import { mistakenTokenWarnings } from './mistaken-tokens.ts'
import { noEffectWarnings } from './no-effect.ts'
import { placeholderMistakes } from './placeholders.ts'
import { databaseFile, type Surroundings } from './places.ts'
import type { ConfigFile } from './schema.ts'
import { Secret } from './secrets.ts'
import { toPolicy } from './to-policy.ts'

interface BuildOptions extends Surroundings {
  readonly file?: string
  readonly folder: string
  readonly toolGroups?: readonly string[]
  readonly down: Config['down']
}

interface Built {
  readonly config: Config
  /** What only shows when the parts are put together; the configuration is of no use then. */
  readonly mistakes: readonly Mistake[]
}

/** Fills in what depends on other parts or on the machine: models, prompts, folders. */
export function buildConfig(parsed: ConfigFile, options: BuildOptions): Built {
  const { agents, mistakes, warnings } = buildAgents(parsed, options)
  const path = databaseFile(parsed.store.url, options)
  const ids = agents.map(({ id }) => id)
  const { mistakes: toolMistakes, ...sessionTools } = buildSessionTools(parsed, ids)
  const scheduled = buildSchedules(parsed, { agents: ids, down: options.down })
  const config: Config = {
    ...(options.file === undefined ? {} : { file: options.file }),
    agents,
    models: buildModels(parsed),
    channels: buildChannels(parsed),
    down: options.down,
    routing: toPolicy(parsed, ids),
    session: sessionSettings(parsed),
    ...sessionTools,
    schedules: scheduled.schedules,
    store: { path, keepRefusedDays: parsed.store.keepRefusedDays },
    logging: { level: parsed.logging.level, pretty: parsed.logging.pretty },
    scriptFolder: options.folder,
    dataDir: dirname(path),
    warnings: [...warnings, ...mistakenTokenWarnings(parsed), ...noEffectWarnings(parsed)],
  }
  return {
    config,
    mistakes: [
      ...mistakes,
      ...storeMistakes(parsed),
      ...toolMistakes,
      ...scheduled.mistakes,
      ...placeholderMistakes(parsed),
      ...malformedIdMistakes(parsed),
    ],
  }
}

function sessionSettings({ session: { queue, publicTurns, staleDays } }: ConfigFile): Config['session'] {
  return { queue, publicTurns, staleDays }
}

function buildModels({ models: { anthropic } }: ConfigFile): Config['models'] {
  return anthropic === undefined ? {} : { anthropic: { ...anthropic, apiKey: new Secret(anthropic.apiKey) } }
}

function buildChannels({ channels }: ConfigFile): Config['channels'] {
  const blocks: Partial<Record<(typeof CHANNEL_IDS)[number], ChannelBlock>> = {}
  for (const id of CHANNEL_IDS) {
    const block = channels[id]
    if (block !== undefined) blocks[id] = block
  }
  return blocks
}

function storeMistakes({ store: { url } }: ConfigFile): Mistake[] {
  const at = { path: ['store', 'url'] }
  if (/^postgres(ql)?:/.test(url)) {
    return [{ ...at, message: 'store.url: Postgres is not available yet; write sqlite:<file>' }]
  }
  return /^sqlite:[^:]/.test(url)
    ? []
    : [{ ...at, message: 'store.url: must be sqlite:<file>, such as sqlite:parley.db' }]
}
