import { join } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import type { PeerKind, PeerSetup } from '../core/peer-setup.ts'
import { HERMES_FOLDERS, readHermes } from './hermes.ts'
import { NANOCLAW_FOLDERS, readNanoclaw } from './nanoclaw.ts'
import { OPENCLAW_FOLDERS, readOpenclaw } from './openclaw.ts'
import { isFolder, PeerFolder } from './peer-folder.ts'
import { type PeerRules, SetupDraft } from './setup-draft.ts'

const READERS = { openclaw: readOpenclaw, hermes: readHermes, nanoclaw: readNanoclaw } as const
const FOLDERS = { openclaw: OPENCLAW_FOLDERS, hermes: HERMES_FOLDERS, nanoclaw: NANOCLAW_FOLDERS } as const

/**
 * Returns the set-up of another program from its folder; nothing in it is changed. Throws `invalid` for a folder that
 * is not there, cannot be read, has nothing to take, or whose main file is broken, with the file in the sentence.
 */
export async function readPeer(kind: PeerKind, path: string, rules: PeerRules): Promise<PeerSetup> {
  const folder = await PeerFolder.open(path)
  const draft = new SetupDraft(rules)
  await READERS[kind](folder, draft)
  for (const line of folder.unread) draft.left(line)
  const setup = draft.finish()
  if (setup.taken.length > 0) return setup
  const [reason = `${path} has nothing that Parley could use.`] = setup.notTaken
  throw new ParleyError('invalid', reason)
}

/** Returns the folder in which such a program usually lies, undefined if there is none. */
export async function findPeer(kind: PeerKind, home: string): Promise<string | undefined> {
  for (const name of FOLDERS[kind]) if (await isFolder(join(home, name))) return join(home, name)
  return undefined
}
