import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import {
  INHERIT,
  SESSION_SETTINGS,
  SETTING_NAMES,
  type SessionOverrides,
  type SettingName,
  type SettingValues,
  takenInChat,
} from '../../core/session-settings.ts'
import type { Store } from '../../store/store.ts'
import type { SessionService } from '../service/session-service.ts'
import { type OpenPorts, openSession } from '../turns/open-session.ts'

export interface SettingCommandDeps extends OpenPorts {
  readonly store: Store
  readonly sessions: Pick<SessionService, 'patch'>
}

/** Returns a command for each setting of a session: `/send`, `/think`, `/verbose`, `/model` (T27, T37). */
export function settingCommands(deps: SettingCommandDeps): readonly ChatCommand[] {
  return SETTING_NAMES.map((name) => {
    const setting = SESSION_SETTINGS[name]
    const { name: typed, description } = setting.command
    const args = takenInChat(setting)
    return { name: typed, description, args, who: 'owner', run: (call) => change(deps, name, call) }
  })
}

async function change<Name extends SettingName>(
  deps: SettingCommandDeps,
  name: Name,
  { dispatch, decision, args }: CommandCall,
): Promise<string> {
  const { command } = SESSION_SETTINGS[name]
  const asked = args.trim()
  if (asked === '') {
    const set: SessionOverrides = (await deps.store.read.sessions.current(decision.route.scopeKey)) ?? {}
    return `${command.shown(set[name])} ${command.usage}`
  }
  const read = readTyped(name, asked)
  // The session knows which models there are for somebody who mistypes one.
  const value = read === undefined && name === 'model' ? asked : read
  if (value === undefined) throw new ParleyError('invalid', command.usage)
  // An override that comes before the first message is set for the session which that message will find.
  await deps.store.write((tx) => openSession(tx, { ...decision, dispatch }, deps))
  // Only owners pass the command's own check. Somebody else's `/new` may open another session in between.
  await deps.sessions.patch({ kind: 'person', ...decision.identity }, decision.route.scopeKey, { [name]: value })
  return read === undefined ? command.usage : command.said(read)
}

/** Returns the value, null to inherit, or undefined for a text that is neither. */
function readTyped<Name extends SettingName>(name: Name, text: string): SettingValues[Name] | null | undefined {
  const {
    value,
    command: { words = {} },
  } = SESSION_SETTINGS[name]
  const word = text.toLowerCase()
  if (INHERIT.some((known) => known === word)) return null
  return Object.hasOwn(words, word) ? words[word] : value.typed(text)
}
