import { setTimeout as sleep } from 'node:timers/promises'
import { ParleyError } from '../../core/errors.ts'
import type { ChannelStatus } from '../../core/operate-parts.ts'
import type { OperatorService, StatusReport } from '../../core/operator.ts'
import { connectLocal } from '../local-client.ts'
import type { CliPorts, LoadedConfig, SetupDaemon, SetupPorts } from '../ports.ts'
import { oneLine } from '../print/plain.ts'
import { claimLines } from '../print/started.ts'
import { socketPathOf } from '../socket-path.ts'
import { type Ask, Left } from './ask.ts'
import type { AccountSetUp } from './set-up-account.ts'

interface Meeting {
  readonly ask: Ask
  readonly loaded: LoadedConfig
  readonly accounts: readonly AccountSetUp[]
  readonly setup: Pick<SetupPorts, 'startDaemon' | 'platforms'>
  readonly ports: Pick<CliPorts, 'explain' | 'onSignal' | 'stdout'>
  readonly file: string
  /** The words by which this program was started. */
  readonly program: string
}

const POLL_MS = 300

/**
 * Starts the daemon, shows how to become its owner, and waits until that person has come and the first message is
 * answered; each wait can be skipped. The same daemon continues if that is wanted, so that the link or code which was
 * shown stays good. Resolves with its exit code once it has ended, with undefined if it was stopped at once. Throws
 * `config` if it does not start.
 */
export async function meetOwner(meeting: Meeting): Promise<number | undefined> {
  const { ask, setup, file, program } = meeting
  ask.say('', 'Starting the bot ...')
  const daemon = setup.startDaemon(file)
  try {
    const operator = await untilUp(meeting, daemon)
    const isOwned = await seesOwner(meeting, operator)
    if (isOwned) {
      for (const account of meeting.accounts) await seesOwnerOn(meeting, operator, account)
      await seesAnswer(ask, operator)
    }
    await sayGroups(meeting, operator)
    const next = await ask.choose({
      message: 'The bot runs now. How to continue?',
      flag: '--no-start',
      options: [
        { value: 'run', label: 'Let it run here', hint: 'with its log, until Ctrl-C' },
        { value: 'stop', label: 'Stop it', hint: 'to start it as a service, for example' },
      ],
    })
    if (next === 'run') return await stayWith(meeting, daemon)
    ask.say('', 'Stopping the bot ...')
    if (!isOwned) ask.say(`It has no owner yet: "${program} status" shows the new link or code once it runs again.`)
    return undefined
  } finally {
    await daemon.stop()
  }
}

/** Shows the log of the daemon at the terminal until it ends; signals are passed on to it. */
async function stayWith({ ask, loaded, ports }: Meeting, daemon: SetupDaemon): Promise<number> {
  ask.say('', 'It continues here, and this is its log. Stop with Ctrl-C.')
  const unwatch = ports.onSignal(daemon.interrupt)
  try {
    ask.close()
    daemon.show((text) => ports.stdout.write(text), loaded.config.logging.pretty)
    return (await daemon.ended).code
  } finally {
    unwatch()
  }
}

/** Waits until each account is up or has failed once. */
async function untilUp({ ask, loaded }: Meeting, daemon: SetupDaemon): Promise<OperatorService> {
  const path = socketPathOf(loaded.config)
  const ended = daemon.ended.then(({ output }) => {
    throw new ParleyError('config', `The daemon has ended:\n${output}`)
  })
  // After the start its end is this command's own doing.
  ended.catch(() => {})
  const up = poll(ask.signal, async () => {
    const operator = await connectLocal(path)
    const report = await operator?.status()
    return operator && report?.channels.every(({ status }) => status !== 'starting') ? { operator, report } : undefined
  })
  const { operator, report } = await Promise.race([up, ended])
  for (const { channel, username, status, detail } of report?.channels ?? [])
    ask.say(status === 'up' ? `${channel}: up as @${username}` : `Wrong: ${channel} is ${status}: ${detail ?? ''}`)
  return operator
}

/** Shows the ways to become the owner, and waits for the person. Resolves with whether there is an owner. */
async function seesOwner({ ask, accounts, program }: Meeting, operator: OperatorService): Promise<boolean> {
  const report = await operator.status()
  if (report.ownerKnown) return true
  if (report.claims.length === 0) return false
  for (const { platform, examination } of accounts)
    if (platform.inviteFirst !== undefined && examination.invite !== undefined)
      ask.say('', `${platform.title}: ${platform.inviteFirst}`, `  ${examination.invite}`)
  ask.say('', 'It has no owner yet:', ...claimLines(report).map((line) => `  ${line}`))
  ask.say('', 'Waiting for you there ... (Enter continues without)')
  const owner = await ask.unlessSkipped((over) => poll(over, () => arrived(operator)))
  if (owner === undefined) ask.say(`Nobody came yet; "${program} status" shows it again.`)
  else ask.say(`${owner} is the owner now.`)
  return owner !== undefined
}

/** Returns the id of the owner once there is one. */
async function arrived(operator: OperatorService): Promise<string | undefined> {
  if (!(await operator.status()).ownerKnown) return undefined
  return (await ownerIds(operator))[0] ?? 'Somebody'
}

async function ownerIds(operator: OperatorService): Promise<readonly string[]> {
  const { people } = await operator.people.list()
  return people.filter(({ role }) => role === 'owner').flatMap(({ ids }) => ids.map(({ id }) => id))
}

/** Waits until an owner is known on the platform of an account too: the same human is a stranger there before. */
async function seesOwnerOn(meeting: Meeting, operator: OperatorService, { platform }: AccountSetUp): Promise<void> {
  const { ask, loaded, setup, program } = meeting
  const isUp = ({ channel, status }: ChannelStatus) => status === 'up' && channel === platform.id
  const hasId = (channel: string) => async () => (await ownerIds(operator)).find((id) => isOn(channel, id))
  const { channels } = await operator.status()
  if (!channels.some(isUp) || (await hasId(platform.id)())) return
  const ids = await ownerIds(operator)
  const elsewhere = setup.platforms.find(
    ({ id }) => channels.some((one) => one.channel === id) && ids.some((one) => isOn(id, one)),
  )
  const mark = loaded.config.routing.traits[elsewhere?.id ?? '']?.commandMark ?? '/'
  ask.say('', `On ${platform.title} it does not know yet that you are its owner.`)
  if (elsewhere === undefined)
    ask.say(
      `Write to it there, and in another window: ${program} access list`,
      `then, with your id: ${program} people link <owner> <id>`,
    )
  else
    ask.say(`Write ${mark}link to it on ${elsewhere.title}, and send it the code of its answer on ${platform.title}.`)
  ask.say('Waiting ... (Enter continues without)')
  const known = await ask.unlessSkipped((over) => poll(over, hasId(platform.id)))
  ask.say(known === undefined ? 'Nobody came yet: it refuses you there until then.' : `${known} is the owner too now.`)
}

/** An id without a platform is known on each. */
function isOn(channel: string, id: string): boolean {
  return id.startsWith(`${channel}:`) || !id.includes(':')
}

/** Waits until a message is answered, or its model has failed. */
async function seesAnswer(ask: Ask, operator: OperatorService): Promise<void> {
  const before = await operator.status()
  if (before.models.length === 0) {
    ask.say('There is no model yet, so the bot can only say that it has none.')
    return
  }
  ask.say('', 'Write something to it, such as "Hello". Waiting ... (Enter continues without)')
  const said = await ask.unlessSkipped((over) => poll(over, () => answered(operator, before)))
  if (said !== undefined) ask.say(...said)
}

async function answered(operator: OperatorService, before: StatusReport): Promise<readonly string[] | undefined> {
  const { modelServers = [], lastIn, lastOut, runningTurns, waiting } = await operator.status()
  const trouble = modelServers.flatMap(({ troubles }) => troubles).at(0)
  if (trouble !== undefined) return [`Wrong: ${oneLine(trouble.cause)}`, `  -> ${oneLine(trouble.remedy)}`]
  if (lastIn === undefined || lastOut === undefined || runningTurns + waiting > 0) return undefined
  // A refusal and its card are sent too.
  const [last] = await operator.why('last')
  if (last?.turn === undefined) return undefined
  const isNew = lastIn.at > (before.lastIn?.at ?? 0) && lastOut.at >= lastIn.at
  const who = lastIn.title === undefined ? 'The message' : oneLine(lastIn.title)
  return isNew ? [`${who} was answered, ${((lastOut.at - lastIn.at) / 1_000).toFixed(1)} s later.`] : undefined
}

/** Says how the bot comes into a group, what it reads there, and who is answered. */
async function sayGroups({ ask, accounts, loaded, ports }: Meeting, operator: OperatorService): Promise<void> {
  const lines = await ports.explain(loaded.config, await operator.people.list())
  const rules = lines.filter((line) => /^routing\.(access\.groups|ownerAlwaysTriggers)/.test(line))
  ask.say('', 'In a group:')
  for (const { platform, examination } of accounts) {
    const { invite, findings } = examination
    // An invitation that comes first was shown before.
    if (invite !== undefined && platform.inviteFirst === undefined) ask.say(`  - ${platform.title}: ${invite} adds it`)
    for (const { state, says } of findings.filter(({ check }) => READING.includes(check)))
      if (state !== 'skipped') ask.say(`  - ${platform.title}: ${says}`)
  }
  ask.say(...rules.map((line) => `  - ${line.replace(/^routing\.[\w.[\]]+: /, '')}`))
  ask.say('  - Somebody else who addresses it: a card comes to you, and /admit lets them in.')
}

/** The checks of the platforms that say what a bot reads in groups. */
const READING = ['privacy-mode', 'intents']

/** Asks again and again until there is an answer. Rejects with `Left` once that is over. */
async function poll<Value>(signal: AbortSignal, ask: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    if (signal.aborted) throw new Left()
    const value = await ask().catch(unlessBusy)
    if (value !== undefined) return value
    await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

/** A daemon that begins may not answer yet. */
function unlessBusy(error: unknown): undefined {
  if (!(error instanceof ParleyError) || error.code !== 'unavailable') throw error
}
