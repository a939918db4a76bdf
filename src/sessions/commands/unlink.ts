import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { foldPlatformId } from '../../core/platform-id.ts'
import { askerOf, type Links } from '../people/links.ts'

export interface UnlinkDeps {
  readonly channels: Channels
  readonly links: Pick<Links, 'unlink'>
  /** Returns who is behind a platform id as things stand. */
  whoIs(platformId: string): Identity
}

/** `/unlink <channel:id>`: parts an id that `/link` joined. Everybody for their own ids, the owner for any. */
export function unlinkCommand(deps: UnlinkDeps): ChatCommand {
  return {
    name: 'unlink',
    description: 'Take back a /link',
    args: 'the id, <channel>:<id> as /whoami says it',
    who: 'anyone',
    private: true,
    run: (call) => unlink(call, deps),
  }
}

async function unlink(call: CommandCall, { links, whoIs, channels }: UnlinkDeps): Promise<string> {
  const { person, role } = call.decision.identity
  const given = foldPlatformId(channels, call.args.replace(/`/g, ''))
  if (given === '') return 'Which id? Write it as in `/unlink <channel>:<id>`; `/whoami` says yours.'
  const own = person !== undefined && whoIs(given).person === person
  // Whose id it is, is nobody else's business.
  if (!own && role !== 'owner') throw new ParleyError('not_found', `You have not linked \`${given}\`.`)
  const { platformId } = askerOf(channels, call)
  if (role === 'owner' && given === platformId) {
    throw new ParleyError('forbidden', 'That is the id you write from. Unlink it from another of yours.')
  }
  const was = await links.unlink(given, platformId)
  return `\`${given}\` is not ${was} to me any more.`
}
