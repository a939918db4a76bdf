import { VOICE_MODES } from './audio.ts'

/** A value as it is stored and sent as JSON. */
export type SettingValue = string | number

/** The values that a setting takes. */
export interface ValueKind<Value extends SettingValue> {
  /** The values in words: `off, low, medium, high`. */
  readonly takes: string
  /** Every value; absent where they cannot be listed. */
  readonly choices?: readonly Value[]
  /** Reads a value of the API or of the store; undefined for anything else. */
  read(given: unknown): Value | undefined
  /** Reads a value that somebody typed; undefined for anything else. */
  typed(text: string): Value | undefined
}

/**
 * A setting that an owner can change for one session. The stored value, the field of the local API, `sessions patch`,
 * the chat command, `sessions show`, `/status` and the reference page are all made from this record.
 */
export interface SessionSetting<Value extends SettingValue> {
  readonly value: ValueKind<Value>
  /** A column of its own in `sessions`. Absent: the value stands in the JSON of the column `settings`, by its name. */
  readonly column?: string
  /** Stands for a stored value that this version cannot read. Absent: the configuration counts. */
  readonly unreadable?: Value
  /** The name in `sessions show` and `/status`. */
  readonly label: string
  /** The option of `sessions patch`: `--<name> <value>`. */
  readonly flag: { readonly name: string; readonly value: string; readonly description: string }
  readonly command: SettingCommand<Value>
  /** The value that the reference page shows. */
  readonly example: Value
}

export interface SettingCommand<Value extends SettingValue> {
  /** Lower case, without slash. */
  readonly name: string
  readonly description: string
  /** Words that stand for values in chat, beside the values themselves. */
  readonly words?: Readonly<Record<string, Value>>
  /** Shown for a value that is missing or cannot be read. */
  readonly usage: string
  /** Returns the present state; undefined: nothing is set. */
  shown(value: Value | undefined): string
  /** Returns the answer to a change; null: the configuration counts again. */
  said(value: Value | null): string
}

/** The words that remove a setting again, in chat; the command line takes the first. */
export const INHERIT = ['inherit', 'default', 'reset'] as const

const thinkingLevels = choice('off', 'low', 'medium', 'high')
const verboseLevels = choice('off', 'on', 'full')

/** Every setting, by its field of the local API. */
const SETTINGS = {
  /** Sets whether anything is said (T27). Answers of commands are exempt. */
  sendPolicy: setting({
    value: choice('allow', 'deny'),
    column: 'send_override',
    // A chat that was silenced stays silent.
    unreadable: 'deny',
    label: 'send policy',
    flag: { name: 'send', value: 'policy', description: 'whether anything is sent' },
    command: {
      name: 'send',
      description: 'Whether I answer here',
      words: { on: 'allow', off: 'deny' },
      usage: 'Say `/send on`, `/send off`, or `/send inherit` to follow the configuration again.',
      shown: (value) => `Sending is ${value ? SENDING[value].word : 'as configured'} here.`,
      said: (value) => (value === null ? 'I follow the configuration here again.' : SENDING[value].said),
    },
    example: 'deny',
  }),
  /**
   * Sets how hard the model thinks before it answers, from the next turn on; one that cannot think ignores it (T37).
   */
  thinkingLevel: setting({
    value: thinkingLevels,
    column: 'thinking_level',
    label: 'thinking',
    flag: { name: 'thinking', value: 'level', description: 'how long the model thinks' },
    command: {
      name: 'think',
      description: 'How hard I think before I answer here',
      ...levelWords('Thinking', thinkingLevels),
    },
    example: 'high',
  }),
  /**
   * Sets which of a turn's tool steps the chat sees, above the answer (T37). `off`: none. `on`: a line a call with the
   * tool's name. `full`: also its arguments and the beginning of its result. With both, and in direct chats where it is
   * not set, a line says what a tool does while it runs.
   */
  verboseLevel: setting({
    value: verboseLevels,
    column: 'verbose_level',
    label: 'verbose',
    flag: { name: 'verbose', value: 'level', description: 'what the chat sees of tools' },
    command: {
      name: 'verbose',
      description: 'What you see of the tools I use here',
      ...levelWords('Showing my tool steps', verboseLevels, 'not set'),
    },
    example: 'on',
  }),
  /** Sets which answers are spoken, where an audio endpoint can. */
  voice: setting({
    value: choice(...VOICE_MODES),
    label: 'voice',
    flag: { name: 'voice', value: 'mode', description: 'which answers are spoken' },
    command: {
      name: 'voice',
      description: 'Which of my answers I speak here',
      usage: `One of ${VOICE_MODES.join(', ')}, or \`inherit\`.`,
      shown: (value) => `I speak my answers here ${value ?? 'as configured'}.`,
      said: (value) =>
        value === null
          ? 'I speak my answers here as configured again.'
          : `I speak my answers here ${value} from now on.`,
    },
    example: 'always',
  }),
  /** Sets which model answers, from the next turn on (T37). */
  model: setting({
    value: shaped('<server>/<model>', /^[^/\s]{1,64}\/\S{1,200}$/),
    column: 'model',
    label: 'model',
    flag: { name: 'model', value: 'model', description: 'which model answers' },
    command: {
      name: 'model',
      description: 'Which model answers here',
      usage: 'Say `/model <server>/<model>`, or `/model inherit` to use the configured one again.',
      shown: (value) => `The model here is ${value ?? 'the configured one'}.`,
      said: (value) =>
        value === null ? 'The configured model answers here again.' : `${value} answers here from now on.`,
    },
    example: 'scripted/echo',
  }),
  /** Sets what the whole session may cost, in US dollars, in the place of `session.maxCost` (C33). */
  maxCost: setting({
    value: amount('US dollars'),
    label: 'cost cap',
    flag: { name: 'max-cost', value: 'dollars', description: 'what the conversation may cost' },
    command: {
      name: 'maxcost',
      description: 'What this conversation may cost',
      usage: 'Say `/maxcost 2.50`, in US dollars, or `/maxcost inherit` to follow the configuration again.',
      shown: (value) => `This conversation may cost ${value === undefined ? 'what is configured' : inDollars(value)}.`,
      said: (value) =>
        value === null
          ? 'The configured cost cap counts here again.'
          : `This conversation may cost ${inDollars(value)} in all.`,
    },
    example: 0.01,
  }),
}

const SENDING = {
  allow: { word: 'on', said: 'I answer here, whatever the configuration says.' },
  deny: {
    word: 'off',
    said: 'I say nothing here until `/send on` or `/send inherit`. What is written is kept.',
  },
} as const

export type SettingName = keyof typeof SETTINGS

export type SettingValues = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends SessionSetting<infer Value> ? Value : never
}

/** The values set by hand for one session, which beat the configuration; absent ones inherit. `/new` keeps them. */
export type SessionOverrides = { readonly [Name in SettingName]?: SettingValues[Name] }

/** Dollars with cents, and with all digits where the amount is no whole number of cents. */
function inDollars(value: number): string {
  return `$${Number.isInteger(100 * value) ? value.toFixed(2) : value}`
}

/** Changes of a session's overrides: those to set and those to inherit again. What is in neither stays. */
export interface SettingPatch {
  readonly set: SessionOverrides
  readonly inherit: readonly SettingName[]
}

export const SESSION_SETTINGS: { readonly [Name in SettingName]: SessionSetting<SettingValues[Name]> } = SETTINGS

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS).filter(isSettingName)

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

/** Returns the overrides that `find` gives; a setting without a value is absent. */
export function collectOverrides(
  find: <Name extends SettingName>(name: Name) => SettingValues[Name] | undefined,
): SessionOverrides {
  const found: { -readonly [Name in SettingName]?: SettingValues[Name] } = {}
  const collect = <Name extends SettingName>(name: Name): void => {
    const value = find(name)
    if (value !== undefined) found[name] = value
  }
  for (const name of SETTING_NAMES) collect(name)
  return found
}

/** Returns the overrides of a session alone. */
export function overridesOf(session: SessionOverrides): SessionOverrides {
  return collectOverrides((name) => session[name])
}

/** Returns each override as its label and value, in the order of the table; values of another version may be new. */
export function labelled(set: Partial<Readonly<Record<SettingName, SettingValue>>>): [label: string, value: string][] {
  return SETTING_NAMES.flatMap((name): [string, string][] => {
    const value = set[name]
    return value === undefined ? [] : [[SESSION_SETTINGS[name].label, String(value)]]
  })
}

/** Returns the words that a setting's command takes: `on, off or inherit`. */
export function takenInChat({ value, command: { words } }: SessionSetting<SettingValue>): string {
  return `${words === undefined ? value.takes : Object.keys(words).join(', ')} or ${INHERIT[0]}`
}

/** Returns the word by which a value is set in chat: `off`. */
export function typedInChat<Value extends SettingValue>({ command }: SessionSetting<Value>, value: Value): string {
  const [word] = Object.entries(command.words ?? {}).find(([, meant]) => meant === value) ?? []
  return word ?? String(value)
}

function setting<const Value extends SettingValue>(record: SessionSetting<Value>): SessionSetting<Value> {
  return record
}

function choice<const Value extends string>(...choices: readonly Value[]): ValueKind<Value> {
  const read = (given: unknown): Value | undefined => choices.find((known) => known === given)
  return { takes: choices.join(', '), choices, read, typed: (text) => read(text.toLowerCase()) }
}

function shaped(takes: string, shape: RegExp): ValueKind<string> {
  const read = (given: unknown): string | undefined =>
    typeof given === 'string' && shape.test(given) ? given : undefined
  return { takes, read, typed: read }
}

function amount(takes: string): ValueKind<number> {
  const read = (given: unknown): number | undefined =>
    typeof given === 'number' && given > 0 && given <= 1_000_000 ? given : undefined
  const shape = /^\$?(\d{1,7}(?:\.\d{1,6})?)$/
  return { takes, read, typed: (text) => read(Number(shape.exec(text)?.[1])) }
}

/** Returns the words of a command whose values are levels, the lowest of which is off. */
function levelWords<Value extends string>(
  subject: string,
  { takes }: ValueKind<Value>,
  unset = 'off',
): Pick<SettingCommand<Value>, 'usage' | 'shown' | 'said'> {
  return {
    usage: `One of ${takes}, or \`inherit\`.`,
    shown: (value) => `${subject} is ${value ?? unset} here.`,
    said: (value) =>
      value === null ? `${subject} is as configured again.` : `${subject} is ${value} here from now on.`,
  }
}
