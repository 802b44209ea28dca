const fs=require('fs');const j=JSON.parse(fs.readFileSync(process.argv[2]));const m=j.meta,B=j.blocks;
const dt=new Date(m.date+'T09:00:00Z');
(async()=>{
if(j.kind==='pdfkit'){const P=require('pdfkit');const fd='/usr/share/fonts/truetype/dejavu/';
 const d=new P({size:'A4',margins:{top:60,bottom:60,left:62,right:62},bufferPages:true,info:{Title:m.title,Author:m.author||'',Subject:m.subject||'',CreationDate:dt,ModDate:dt}});
 d.pipe(fs.createWriteStream(j.out));d.registerFont('N',fd+'DejaVuSans.ttf');d.registerFont('B',fd+'DejaVuSans-Bold.ttf');
 let first=true;
 if(m.cover==='yes'){d.moveDown(12);d.font('B').fontSize(24).text(m.title);d.font('N').fontSize(11).moveDown().text(m.sub||'').text(m.author||'');first=false}
 else{d.font('B').fontSize(17).text(m.title);d.font('N').fontSize(8.5).text(m.sub||'');d.moveDown()}
 for(const [t,x] of B){
  if(t==='h1'){if(m.pb==='yes'&&!first)d.addPage();first=false;d.moveDown(.5).font('B').fontSize(14).text(x,62);d.moveDown(.4)}
  else if(t==='h2'){d.moveDown(.3).font('B').fontSize(11).text(x,62);d.moveDown(.2)}
  else if(t==='p'){d.font('N').fontSize(9.5).text(x,62,undefined,{lineGap:3});d.moveDown(.7)}
  else if(t==='cap'){d.font('N').fontSize(8.5).text(x,62);d.moveDown(.2)}
  else if(t==='note'){d.font('N').fontSize(7.5).text(x,62);d.moveDown(.5)}
  else if(t==='li'){d.font('N').fontSize(9.5).text('• '+x,72,undefined,{lineGap:2})}
  else if(t==='pb')d.addPage();
  else if(t==='table'){const n=x[0].length;const ml=[...Array(n).keys()].map(i=>Math.min(44,Math.max(7,...x.map(r=>(r[i]||'').length))));const tot=ml.reduce((a,b)=>a+b);const W=ml.map(v=>v/tot*470);
   x.forEach((r,ri)=>{d.font(ri?'N':'B').fontSize(8);const h=Math.max(...r.map((c,i)=>d.heightOfString(c||' ',{width:W[i]-6})));if(d.y+h>770)d.addPage();let y=d.y,X=62;r.forEach((c,i)=>{d.text(c,X,y,{width:W[i]-6});X+=W[i]});d.y=y+h+4;d.moveTo(62,d.y-2).lineTo(532,d.y-2).lineWidth(.3).stroke('#aaa');d.fillColor('black')});d.x=62;d.moveDown(.6)}
 }
 const r=d.bufferedPageRange();for(let i=0;i<r.count;i++){d.switchToPage(i);const k=d.page.margins.bottom;d.page.margins.bottom=0;d.font('N').fontSize(7).text((m.foot||m.title)+'   '+(i+1)+'/'+r.count,62,800,{lineBreak:false});d.page.margins.bottom=k}
 d.end()}
if(j.kind==='docx'){const X=require('docx');const ch=[];
 ch.push(new X.Paragraph({text:m.title,heading:X.HeadingLevel.TITLE}));if(m.sub)ch.push(new X.Paragraph(m.sub));let first=true;
 for(const [t,x] of B){
  if(t==='h1'){ch.push(new X.Paragraph({text:x,heading:X.HeadingLevel.HEADING_1,pageBreakBefore:m.pb==='yes'&&!first}));first=false}
  else if(t==='h2')ch.push(new X.Paragraph({text:x,heading:X.HeadingLevel.HEADING_2}));
  else if(t==='li')ch.push(new X.Paragraph({text:x,bullet:{level:0}}));
  else if(t==='pb')ch.push(new X.Paragraph({children:[new X.PageBreak()]}));
  else if(t==='table')ch.push(new X.Table({width:{size:100,type:X.WidthType.PERCENTAGE},rows:x.map((r,ri)=>new X.TableRow({tableHeader:ri===0,children:r.map(c=>new X.TableCell({children:[new X.Paragraph({children:[new X.TextRun({text:c,bold:ri===0})]})]}))}))}),new X.Paragraph(''));
  else ch.push(new X.Paragraph({children:[new X.TextRun({text:x,italics:t!=='p'})],spacing:{after:160}}));
 }
 const D=new X.Document({title:m.title,creator:m.author||'',subject:m.subject||'',sections:[{footers:{default:new X.Footer({children:[new X.Paragraph(m.foot||m.title)]})},children:ch}]});
 fs.writeFileSync(j.out,await X.Packer.toBuffer(D))}
if(j.kind==='pptx'){const G=require('pptxgenjs');const p=new G();p.title=m.title;p.author=m.author||'';p.company=m.company||'';p.subject=m.subject||'';
 const s0=p.addSlide();s0.background={color:'24425F'};s0.addText(m.title,{x:.6,y:1.8,w:8.8,h:1,fontSize:32,bold:true,color:'FFFFFF'});s0.addText((m.sub||''),{x:.6,y:2.9,w:8.8,h:.8,fontSize:16,color:'DDDDDD'});
 let s=null,y=0;
 for(const [t,x] of B){
  if(t==='h1'){s=p.addSlide();s.addText(x,{x:.5,y:.25,w:9,h:.7,fontSize:22,bold:true,color:'24425F'});y=1.05;s.addText((m.foot||m.title),{x:.5,y:5.25,w:9,h:.3,fontSize:9,color:'888888'})}
  else if(t==='table'){const fs_=x.length>7?10:12;const h=.3*x.length;s.addTable(x.map((r,i)=>r.map((c,k)=>({text:c,options:{bold:i===0,fill:i===0?{color:'E4EAF0'}:undefined,align:k?'right':'left'}}))),{x:.5,y,w:9,fontSize:fs_,border:{pt:.5,color:'BBBBBB'},rowH:.28});y+=h+.15}
  else if(t==='speaker')s.addNotes(x);
  else{const h=Math.max(.38,Math.ceil(x.length/95)*.28+.08);s.addText(x,{x:.5,y,w:9,h,fontSize:t==='note'||t==='cap'?10:14,bullet:t==='li',color:'222222',valign:'top'});y+=h}
 }
 await p.writeFile({fileName:j.out})}
if(j.kind==='exceljs'){const E=require('exceljs');const w=new E.Workbook();w.creator=m.author||'';w.title=m.title;w.created=dt;w.modified=dt;
 for(const s of j.grid){const h=w.addWorksheet(s.name);h.getColumn(1).width=36;for(let k=2;k<9;k++)h.getColumn(k).width=15;
  s.rows.forEach((r,i)=>r.forEach((c,k)=>{if(c.v==='')return;const q=h.getCell(i+1,k+1);q.value=c.form?{formula:c.form.slice(1),result:c.v}:c.v;if(c.f)q.numFmt=c.f;if(c.s)q.font={bold:true}}))}
 await w.xlsx.writeFile(j.out)}
})().catch(e=>{console.error(e);process.exit(1)});
