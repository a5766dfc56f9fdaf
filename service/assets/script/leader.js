// One of all tabs of a browser follows the events and tells the others: over HTTP/1.1 a browser has
// six connections to a site, and each tab's own stream would take one for ever.

/**
 * What a tab needs: the channel's `name`, the same in all tabs of a service; how to `open` the stream
 * after an event ("": from now on); who has `heard` an event (kind, id, data), and of the state that
 * has `changed`: "live", "connecting" or "off".
 */

const KINDS = ["comparison", "incident", "bisection", "message", "request", "reset"];
const ASKED_MS = 300;  // how long the others may take to say that there is a leader
const BEAT_MS = 3_000;
const LOST_MS = 10_000;  // without a beat the leader's tab is gone
const AGAIN_MS = 10_000;  // after an answer that is none, as "too many clients"

export class Following {
  constructor(wiring) {
    this.wiring = wiring;
    this.id = `${Date.now()}-${Math.random()}`;
    this.after = "";
    this.isOn = false;
    this.source = null;
    this.state = "off";
    this.timer = 0;
    this.channel = new BroadcastChannel(wiring.name);
    this.channel.addEventListener("message", ({ data }) => this.told(data));
  }

  start() {
    if (this.isOn) return;
    this.isOn = true;
    this.become("connecting");
    this.channel.postMessage({ what: "ask" });
    this.wait(ASKED_MS);
  }

  stop() {
    if (!this.isOn) return;
    this.isOn = false;
    clearTimeout(this.timer);
    if (this.source) {
      this.resign();
      this.channel.postMessage({ what: "gone" });
    }
    this.become("off");
  }

  /** Leads where nobody says within that time that he does. */
  wait(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lead(), ms + Math.random() * 100);
  }

  lead() {
    if (!this.isOn) return;
    const source = this.wiring.open(this.after);
    this.source = source;
    source.addEventListener("open", () => this.become("live"));
    source.addEventListener("error", () => this.failed());
    for (const kind of KINDS) source.addEventListener(kind, (event) => this.got(event));
    this.beat();
  }

  beat() {
    clearTimeout(this.timer);
    if (!this.source) return;
    this.channel.postMessage({ what: "lead", id: this.id, state: this.state });
    this.timer = setTimeout(() => this.beat(), BEAT_MS);
  }

  /** The browser comes again by itself, unless the answer was an error. */
  failed() {
    if (!this.source) return;
    this.become("connecting");
    if (this.source.readyState !== EventSource.CLOSED) return;
    this.resign();
    this.wait(AGAIN_MS);
  }

  resign() {
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
  }

  got({ type, lastEventId, data }) {
    const heard = { kind: type, id: lastEventId, data: JSON.parse(data) };
    this.channel.postMessage({ what: "event", heard });
    this.hear(heard);
  }

  hear(heard) {
    this.after = heard.id;
    if (this.isOn) this.wiring.heard(heard);
  }

  /** What another tab says. */
  told(data) {
    if (data.what === "ask" && this.source) this.beat();
    if (data.what === "event") this.hear(data.heard);
    if (data.what === "gone" && this.isOn && !this.source) this.wait(0);
    if (data.what !== "lead" || !this.isOn) return;
    if (this.source && data.id > this.id) {
      this.beat();  // the other one hears it, and resigns
      return;
    }
    if (this.source) this.resign();
    this.become(data.state);
    this.wait(LOST_MS);
  }

  become(state) {
    if (state === this.state) return;
    this.state = state;
    this.wiring.changed(state);
    if (this.source) this.beat();
  }
}
