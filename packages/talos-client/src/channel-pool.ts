import { CallFailure } from './call-failure.ts';
import { Channel } from './channel.ts';
import { type Endpoint, endpointText } from './endpoint.ts';
import type { TlsMaterial } from './mutual-tls.ts';

/** What a channel carries: node facts are small, other resources can be large. */
export type ChannelPurpose = 'facts' | 'resources';

/** A channel on loan. Give it back with `channel.release()`. */
export interface Loan {
  readonly channel: Channel;
  /** It was connected before this loan, so that it may be dead without our knowing. */
  readonly isReused: boolean;
}

const maxMessageBytes: Readonly<Record<ChannelPurpose, number>> = {
  facts: 256 * 1024,
  // As Talos's own client and server (Talos: pkg/grpc/dialer and internal/app/apid).
  resources: 32 * 1024 * 1024,
};

/** Open channels, at most one per address and purpose, all with the same credentials. */
export class ChannelPool {
  readonly #maxConnections: number;
  // In order of use: the first is the one that rested longest.
  readonly #channels = new Map<string, Channel>();
  #fingerprint = '';

  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections;
  }

  /**
   * Lends the channel of an address, a new one where there is none.
   *
   * Other credentials than the last ones retire every channel: calls in flight finish with the old
   * credentials, and no new call is made with them.
   *
   * @throws CallFailure `unreachable` where every connection is in use
   */
  borrow(endpoint: Endpoint, purpose: ChannelPurpose, material: TlsMaterial): Loan {
    if (this.#fingerprint !== material.fingerprint) {
      this.closeAll();
      this.#fingerprint = material.fingerprint;
    }
    const key = `${purpose} ${endpointText(endpoint)}`;
    const known = this.#channels.get(key);
    this.#channels.delete(key);
    const channel = known ?? this.#open(endpoint, purpose, material);
    this.#channels.set(key, channel);
    channel.hold();
    return { channel, isReused: known?.isReady === true };
  }

  #open(endpoint: Endpoint, purpose: ChannelPurpose, material: TlsMaterial): Channel {
    if (this.#channels.size >= this.#maxConnections) {
      const resting = [...this.#channels.values()].find((channel) => channel.users === 0);
      if (resting === undefined) {
        const text = `all ${this.#maxConnections} connections are in use`;
        throw new CallFailure('unreachable', text);
      }
      this.retire(resting);
    }
    return new Channel(endpoint, material, maxMessageBytes[purpose]);
  }

  /** Takes one channel out of use; the next loan of its address opens another. */
  retire(channel: Channel): void {
    for (const [key, candidate] of this.#channels) {
      if (candidate === channel) {
        this.#channels.delete(key);
        channel.retire();
      }
    }
  }

  /** Takes every channel out of use. */
  closeAll(): void {
    for (const channel of this.#channels.values()) {
      channel.retire();
    }
    this.#channels.clear();
  }
}
