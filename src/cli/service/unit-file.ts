import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

export type ServiceScope = 'system' | 'user'

/** All that a unit says about one installation. */
export interface UnitFacts {
  readonly scope: ServiceScope
  /** Node and the program. */
  readonly command: readonly [node: string, main: string]
  /** The configuration. */
  readonly config: string
  /** The file with further variables; it may be missing. */
  readonly variables: string
  /** Variables that the service and its user's shell share, such as XDG_STATE_HOME. */
  readonly environment: Readonly<Record<string, string>>
  readonly credentials: readonly Credential[]
}

export interface Credential {
  readonly name: string
  readonly file: string
}

/**
 * The directives of the shipped unit that a user's service manager can apply. It has no privileges: a directive that
 * needs a namespace, another user or a capability would end the start (systemd.exec(5)), and it knows no targets of the
 * system. Folders are those of the user, as for any other command.
 */
const FOR_USERS: ReadonlySet<string> = new Set([
  ...['Description', 'Documentation', 'StartLimitIntervalSec', 'StartLimitBurst', 'Type', 'NotifyAccess'],
  ...['ExecStart', 'ExecReload', 'EnvironmentFile', 'Environment', 'WatchdogSec', 'TimeoutStartSec', 'TimeoutStopSec'],
  ...['KillSignal', 'Restart', 'RestartSec', 'RestartPreventExitStatus', 'UMask', 'MemoryMax', 'OOMPolicy', 'TasksMax'],
  ...['LimitNOFILE', 'LimitCORE', 'NoNewPrivileges', 'RestrictSUIDSGID', 'LockPersonality', 'RestrictRealtime'],
  ...['RestrictNamespaces', 'SystemCallArchitectures', 'SystemCallFilter', 'SystemCallErrorNumber'],
  ...['RestrictAddressFamilies', 'WantedBy'],
])

/** Returns the unit of an installation, made from the one in the folder `systemd` of the package. */
export function unitText(shipped: string, facts: UnitFacts): string {
  const lines = shipped.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const kept = lines.flatMap((line) => {
    const [name = '', value = ''] = line.split(/=(.*)/s)
    if (line.startsWith('[')) return ['', line]
    return facts.scope === 'user' && !FOR_USERS.has(name) ? [] : fill(name, value, facts)
  })
  return marked(`${kept.join('\n').trim()}\n`, facts.scope === 'user' ? ' --user' : '')
}

function fill(name: string, value: string, facts: UnitFacts): readonly string[] {
  switch (name) {
    case 'Documentation':
      // A list of addresses, in which a quote would begin a longer one.
      return [`Documentation=${pathToFileURL(facts.config).href.replaceAll("'", '%27').replaceAll('%', '%%')}`]
    case 'ExecStart':
      return [`ExecStart=${commandOf(facts).map(quoted).join(' ').replaceAll('$', '$$$$')}`]
    case 'EnvironmentFile':
      return [`EnvironmentFile=-${facts.variables.replaceAll('%', '%%')}`]
    case 'Environment':
      return [`Environment=${value}`, ...environmentLines(facts), ...credentialLines(facts)]
    case 'WantedBy':
      return [facts.scope === 'user' ? 'WantedBy=default.target' : `WantedBy=${value}`]
    default:
      return [`${name}=${value}`]
  }
}

function commandOf({ command, config }: UnitFacts): readonly string[] {
  return [...command, 'start', '--config', config]
}

/** Programs that tools start, as by npx, are found beside Node. */
function environmentLines({ environment, command: [node] }: UnitFacts): readonly string[] {
  const path = [...new Set([dirname(node), '/usr/local/bin', '/usr/bin', '/bin'])].join(':')
  return Object.entries({ PATH: path, ...environment }).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`)}`,
  )
}

function credentialLines({ credentials }: UnitFacts): readonly string[] {
  return credentials.map(({ name, file }) => `LoadCredential=${name}:${file.replaceAll('%', '%%')}`)
}

/** Returns a word as systemd reads it back (systemd.syntax(7)); `$` has a meaning in a command alone. */
function quoted(word: string): string {
  const text = word.replaceAll('%', '%%')
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** Returns the words of the command in the file of a service, as `unitText` and `plistText` write them. */
export function commandIn(text: string): readonly string[] {
  const list = /<key>ProgramArguments<\/key>\s*<array>(.*?)<\/array>/s.exec(text)?.[1]
  if (list !== undefined)
    return [...list.matchAll(/<string>(.*?)<\/string>/gs)].map(([, word = '']) =>
      word.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    )
  const line = /^ExecStart=(.+)$/m.exec(text)?.[1] ?? ''
  return [...line.matchAll(/"((?:\\.|[^"\\])*)"|\S+/g)].map(([word, inside]) =>
    (inside?.replace(/\\(.)/g, '$1') ?? word).replaceAll('%%', '%').replaceAll('$$', '$'),
  )
}

/** Returns why systemd reads the line of a variable otherwise than a shell; undefined where it does not. */
export function doubtOfVariable(lines: readonly string[], name: string): string | undefined {
  const line = lines.map((one) => one.trim()).find((one) => new RegExp(`^(?:export\\s+)?${name}\\s*=`).test(one))
  if (line?.startsWith('export')) return `systemd does not know "export": take that word out before ${name}`
  if (line && /=[^"']*\s#/.test(line))
    return `the comment behind ${name} belongs to its value: give it a line of its own`
  return undefined
}

const MARK = /^# Written by "parley service install" \(([0-9a-f]{12})\)/

function marked(text: string, user: string): string {
  return `# Written by "parley service install" (${digest(text)}), which writes it again.\n# "systemctl${user} edit parley" keeps what you change.\n\n${text}`
}

/** Returns true for a file that this command wrote and nobody changed since. */
export function isOurs(text: string): boolean {
  const body = text.split('\n\n').slice(1).join('\n\n')
  return MARK.exec(text)?.[1] === digest(body) || launchdMark(text)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** The name of the service for launchd. */
export const LABEL = 'parley'

/** Returns the property list of an installation for launchd (launchd.plist(5)), which knows no readiness. */
export function plistText(facts: UnitFacts, log: string): string {
  const [node] = facts.command
  const strings = (words: readonly string[]) => words.map((word) => `    <string>${escaped(word)}</string>`)
  const variables = {
    NODE_ENV: 'production',
    PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    ...facts.environment,
  }
  const body = [
    '<plist version="1.0">',
    '<dict>',
    ...['  <key>Label</key>', `  <string>${LABEL}</string>`],
    ...['  <key>ProgramArguments</key>', '  <array>'],
    ...[...strings(commandOf(facts)), '  </array>'],
    ...['  <key>EnvironmentVariables</key>', '  <dict>'],
    ...Object.entries(variables).map(([name, value]) => `    <key>${name}</key><string>${escaped(value)}</string>`),
    '  </dict>',
    ...[
      '  <key>RunAtLoad</key><true/>',
      '  <key>KeepAlive</key><true/>',
      '  <key>ThrottleInterval</key><integer>10</integer>',
    ],
    ...['  <key>ExitTimeOut</key><integer>30</integer>', '  <key>Umask</key><integer>63</integer>'],
    ...['  <key>ProcessType</key><string>Background</string>'],
    ...['  <key>StandardErrorPath</key>', `  <string>${escaped(log)}</string>`],
    '</dict>',
    '</plist>\n',
  ].join('\n')
  return `${HEAD}<!-- Written by "parley service install" (${digest(body)}), which writes it again. -->\n${body}`
}

const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'

function launchdMark(text: string): boolean {
  const [, mark, body] = /^<!-- Written by "parley service install" \((\w+)\).*-->\n([\s\S]*)$/m.exec(text) ?? []
  return mark !== undefined && mark === digest(body ?? '')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Returns the lines that two texts do not share, those of the first with `-`, those of the second with `+`. */
export function differences(from: string, to: string): readonly string[] {
  const [before, after] = [from.split('\n'), to.split('\n')]
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ]
}
