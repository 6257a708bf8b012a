"use strict";
// Draws many points on a 2D canvas: with WebGL where a graphics card is there, else pixel by pixel.
// A painter has two methods; `points` is {x, y, count} with coordinates from 0 to 65535, `colours`
// holds a red-green-blue-alpha byte quadruple for each point.
//   load(points, colours): returns a handle; call again when the colours change.
//   paint(handle, pen, frame, size): frame is {left, top, side}, the square of the coordinates in
//   pixels of the canvas; size is the diameter of a point.
const makePainter = (onLost) => {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl", {
    antialias: false, depth: false, stencil: false, failIfMajorPerformanceCaveat: true,
  });
  return (gl && !isSoftware(gl) && webglPainter(canvas, gl, onLost)) || pixelPainter();
};

// WebGL without a graphics card is slower than writing pixels, and browsers do not always say so.
const isSoftware = (gl) => {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
};

const webglPainter = (canvas, gl, onLost) => {
  const compile = (kind, source) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    return shader;
  };
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl.VERTEX_SHADER, `
    attribute vec2 at; attribute vec4 colour;
    uniform vec2 start, scale; uniform mediump float size;
    varying vec4 paint;
    void main() {
      gl_Position = vec4(start + at * scale, 0.0, 1.0);
      gl_PointSize = size + 1.0;
      paint = colour;
    }`));
  gl.attachShader(program, compile(gl.FRAGMENT_SHADER, `
    precision mediump float;
    uniform mediump float size; varying vec4 paint;
    void main() {
      float away = length(gl_PointCoord - 0.5) * (size + 1.0);
      float alpha = paint.a * clamp(0.5 * size + 0.5 - away, 0.0, 1.0);
      gl_FragColor = vec4(paint.rgb * alpha, alpha);
    }`));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const attribute = { at: gl.getAttribLocation(program, "at"), colour: gl.getAttribLocation(program, "colour") };
  const uniform = (name) => gl.getUniformLocation(program, name);
  const [start, scale, diameter] = [uniform("start"), uniform("scale"), uniform("size")];
  Object.values(attribute).forEach((place) => gl.enableVertexAttribArray(place));
  canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); onLost(); });

  const buffers = new Map();  // of each points object
  const filled = (buffer, values) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
  };
  return {
    kind: "webgl",
    load(points, colours) {
      if (!buffers.has(points)) {
        const places = new Uint16Array(2 * points.count);
        for (let i = 0; i < points.count; i++) { places[2 * i] = points.x[i]; places[2 * i + 1] = points.y[i]; }
        buffers.set(points, { at: gl.createBuffer(), colour: gl.createBuffer(), count: points.count });
        filled(buffers.get(points).at, places);
      }
      filled(buffers.get(points).colour, colours);
      return buffers.get(points);
    },
    paint(handle, pen, { left, top, side }, size) {
      const { width, height } = pen.canvas;
      if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
      gl.viewport(0, 0, width, height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.bindBuffer(gl.ARRAY_BUFFER, handle.at);
      gl.vertexAttribPointer(attribute.at, 2, gl.UNSIGNED_SHORT, true, 0, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, handle.colour);
      gl.vertexAttribPointer(attribute.colour, 4, gl.UNSIGNED_BYTE, true, 0, 0);
      gl.uniform2f(start, 2 * left / width - 1, 1 - 2 * (top + side) / height);
      gl.uniform2f(scale, 2 * side / width, 2 * side / height);
      gl.uniform1f(diameter, size);
      gl.drawArrays(gl.POINTS, 0, handle.count);
      pen.clearRect(0, 0, width, height);
      pen.drawImage(canvas, 0, 0);
    },
  };
};

const pixelPainter = () => {
  let image = null, pixels = null;
  // The bytes of a disc: for each pixel its place and how much of it is covered, 0 to 256.
  const disc = (size, width) => {
    const radius = Math.ceil(size / 2), places = [], cover = [];
    for (let y = -radius; y <= radius; y++) for (let x = -radius; x <= radius; x++) {
      const covered = Math.min(1, Math.max(0, size / 2 + 0.5 - Math.hypot(x, y)));
      if (covered > 0.05) { places.push(4 * (y * width + x)); cover.push(Math.round(256 * covered)); }
    }
    return { radius, places: Int32Array.from(places), cover: Int32Array.from(cover) };
  };
  return {
    kind: "canvas",
    load: (points, colours) => ({ points, colours }),
    paint({ points, colours }, pen, { left, top, side }, size) {
      const { width, height } = pen.canvas;
      if (!image || image.width !== width || image.height !== height) {
        image = pen.createImageData(width, height);
        pixels = image.data;
      }
      const paper = rgb(cssColour("--paper"));
      new Uint32Array(pixels.buffer).fill(new Uint32Array(new Uint8Array([...paper, 255]).buffer)[0]);
      const { radius, places, cover } = disc(size, width);
      const { x, y, count } = points, bottom = top + side, step = side / 65535;
      for (let i = 0; i < count; i++) {
        const px = Math.round(left + x[i] * step), py = Math.round(bottom - y[i] * step);
        if (px < radius || py < radius || px >= width - radius || py >= height - radius) continue;
        const at = 4 * (py * width + px), c = 4 * i;
        const red = colours[c], green = colours[c + 1], blue = colours[c + 2], alpha = colours[c + 3];
        for (let j = 0; j < places.length; j++) {
          const p = at + places[j], a = alpha * cover[j];  // of 255 * 256
          pixels[p] += ((red - pixels[p]) * a) >> 16;
          pixels[p + 1] += ((green - pixels[p + 1]) * a) >> 16;
          pixels[p + 2] += ((blue - pixels[p + 2]) * a) >> 16;
        }
      }
      pen.putImageData(image, 0, 0);
    },
  };
};
