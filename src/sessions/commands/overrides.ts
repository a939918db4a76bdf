import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import { type Session, THINKING_LEVELS, VERBOSE_LEVELS } from '../../core/session.ts'
import type { Store } from '../../store/store.ts'
import type { SessionService } from '../service/session-service.ts'
import { type OpenPorts, openSession } from '../turns/open-session.ts'

export interface OverrideCommandDeps extends OpenPorts {
  readonly store: Store
  readonly sessions: Pick<SessionService, 'patch'>
}

/** The mode asked for: a value, null to inherit, or undefined for a text that is no mode. */
type Mode = string | null | undefined

interface Setting {
  readonly field: 'sendPolicy' | 'thinkingLevel' | 'verboseLevel' | 'model'
  /** The usage line, shown for a missing or unknown mode. */
  readonly usage: string
  read(asked: string): Mode
  /** Returns the present setting, for a command without a mode. */
  shown(session: Session | undefined): string
  said(value: string | null): string
}

const INHERIT: readonly string[] = ['inherit', 'default', 'reset']

/** `/send` sets whether anything is said here (T27). Answers of commands are exempt. */
export function sendCommand(deps: OverrideCommandDeps): ChatCommand {
  const modes: Readonly<Record<string, string>> = { on: 'allow', allow: 'allow', off: 'deny', deny: 'deny' }
  const setting: Setting = {
    field: 'sendPolicy',
    usage: 'Say `/send on`, `/send off`, or `/send inherit` to follow the configuration again.',
    read: (asked) => (INHERIT.includes(asked) ? null : modes[asked]),
    shown: (session) => `Sending is ${session?.sendOverride ? NAMED[session.sendOverride] : 'as configured'} here.`,
    said: (value) =>
      value === null
        ? 'I follow the configuration here again.'
        : value === 'allow'
          ? 'I answer here, whatever the configuration says.'
          : 'I say nothing here until `/send on` or `/send inherit`. What is written is kept.',
  }
  return command(deps, setting, {
    name: 'send',
    description: 'Whether I answer here',
    args: 'on, off or inherit',
  })
}

const NAMED = { allow: 'on', deny: 'off' } as const

/** `/think` sets how hard the model thinks before it answers, from the next turn on (T37). */
export function thinkCommand(deps: OverrideCommandDeps): ChatCommand {
  return command(deps, level('thinkingLevel', THINKING_LEVELS, 'Thinking'), {
    name: 'think',
    description: 'How hard I think before I answer here',
    args: `${THINKING_LEVELS.join(', ')} or inherit`,
  })
}

/** `/verbose` sets what this chat sees of the tools the agent uses (T37). */
export function verboseCommand(deps: OverrideCommandDeps): ChatCommand {
  return command(deps, level('verboseLevel', VERBOSE_LEVELS, 'Showing my tool steps'), {
    name: 'verbose',
    description: 'What you see of the tools I use here',
    args: `${VERBOSE_LEVELS.join(', ')} or inherit`,
  })
}

/** `/model` sets which model answers here, from the next turn on (T37). */
export function modelCommand(deps: OverrideCommandDeps): ChatCommand {
  const setting: Setting = {
    field: 'model',
    usage: 'Say `/model <provider>/<model>`, or `/model inherit` to use the configured one again.',
    read: (asked) => (INHERIT.includes(asked.toLowerCase()) ? null : asked),
    shown: (session) => `The model here is ${session?.model ?? 'the configured one'}.`,
    said: (value) =>
      value === null ? 'The configured model answers here again.' : `${value} answers here from now on.`,
  }
  return command(deps, setting, {
    name: 'model',
    description: 'Which model answers here',
    args: '<provider>/<model> or inherit',
  })
}

function level(field: 'thinkingLevel' | 'verboseLevel', levels: readonly string[], what: string): Setting {
  return {
    field,
    usage: `One of ${levels.join(', ')}, or \`inherit\`.`,
    read: (asked) => (INHERIT.includes(asked) ? null : levels.find((known) => known === asked)),
    shown: (session) => `${what} is ${session?.[field] ?? 'off'} here.`,
    said: (value) => (value === null ? `${what} is as configured again.` : `${what} is ${value} here from now on.`),
  }
}

function command(
  deps: OverrideCommandDeps,
  setting: Setting,
  named: Pick<ChatCommand, 'name' | 'description'> & { readonly args: string },
): ChatCommand {
  return { ...named, who: 'owner', run: (call) => change(deps, setting, call) }
}

async function change(deps: OverrideCommandDeps, setting: Setting, call: CommandCall): Promise<string> {
  const { dispatch, decision } = call
  const asked = setting.field === 'model' ? call.args.trim() : call.args.trim().toLowerCase()
  if (asked === '') {
    const session = await deps.store.read.sessions.current(decision.route.scopeKey)
    return `${setting.shown(session)} ${setting.usage}`
  }
  const value = setting.read(asked)
  if (value === undefined) throw new ParleyError('invalid', setting.usage)
  // An override that comes before the first message is set for the session which that message will find.
  const session = await deps.store.write((tx) => openSession(tx, { ...decision, dispatch }, deps))
  // Only owners pass the command's own check.
  await deps.sessions.patch({ kind: 'person', ...decision.identity }, session.id, { [setting.field]: value })
  return setting.said(value)
}
