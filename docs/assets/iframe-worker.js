// Search runs in a worker, and browsers start none from file://. There it runs in a hidden frame.
(() => {
  if (location.protocol !== "file:") return
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data =>
        this.dispatchEvent(new MessageEvent("message", { data }))
      this.inside.importScripts = (...urls) => urls.reduce(
        (before, one) => before.then(() => this.load(one)), Promise.resolve()
      )
      this.ready = this.load(url)
    }
    load(url) {
      return new Promise((loaded, failed) => {
        const script = this.inside.document.createElement("script")
        script.src = new URL(url, location.href).href
        script.onload = loaded
        script.onerror = failed
        this.inside.document.body.append(script)
      })
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
  window.IFrameWorker = window.Worker = IFrameWorker
})()
