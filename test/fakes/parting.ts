import type { Parting } from '../../src/sessions/turns/parted.ts'
import { CHANNELS } from './channels.ts'

/** Everybody is who they were when their message was decided. */
export const nobodyParted: Parting = {
  channels: CHANNELS,
  whoIs: () => ({ role: 'guest' }),
  parted: () => Promise.reject(new Error('nobody has parted')),
}
